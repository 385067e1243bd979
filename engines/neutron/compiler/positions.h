#pragma once
// What a gather of known positions is: an upsampling, a reflection, or pieces one after the other.

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::engine::neutron {

struct Positions {
  enum class Kind : uint8_t {
    kNearest,     // RESIZE_NEAREST_NEIGHBOR: each row or column of a picture 2, 4 or 8 times
    kReflection,  // MIRROR_PAD
    kRepeated,    // each element `times` times, elsewhere
    kRuns,
  } kind = Kind::kRuns;
  int64_t times = 1;              // kNearest, kRepeated
  int64_t before = 0, after = 0;  // kReflection
  struct Run {
    int64_t start = 0, end = 0;  // elements of the operand that follow each other
  };
  std::vector<Run> runs;  // kRuns: all of them

  /// How many operands a concatenation of its pieces has.
  [[nodiscard]] int64_t pieces() const;
};

/// Nothing if data gives the positions.
[[nodiscard]] std::optional<Positions> positions_of(const ir::Graph& graph, const ir::Op& gather);

}  // namespace thimble::engine::neutron
