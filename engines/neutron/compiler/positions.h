#pragma once
// Classifies a gather with constant positions: upsampling, reflection, or concatenated runs.

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::engine::neutron {

struct Positions {
  enum class Kind : uint8_t {
    kNearest,     // RESIZE_NEAREST_NEIGHBOR: each row or column of an image 2, 4 or 8 times
    kReflection,  // MIRROR_PAD
    kRepeated,    // each element `times` times; not an image, or another factor
    kRuns,
  } kind = Kind::kRuns;
  int64_t times = 1;              // kNearest, kRepeated
  int64_t before = 0, after = 0;  // kReflection
  struct Run {
    int64_t start = 0, end = 0;  // consecutive elements of the operand
  };
  std::vector<Run> runs;  // the positions as runs; used for kRuns

  /// Returns the number of operands of a concat that computes the gather.
  [[nodiscard]] int64_t pieces() const;
};

/// Returns nothing if the positions are not constant.
[[nodiscard]] std::optional<Positions> positions_of(const ir::Graph& graph, const ir::Op& gather);

}  // namespace thimble::engine::neutron
