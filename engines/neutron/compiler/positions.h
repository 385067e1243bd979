// SPDX-License-Identifier: Apache-2.0
#pragma once
// Classifies a gather with constant positions: upsampling, reflection, or concatenated segments.

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::engine::neutron {

struct Positions {
  enum class Kind : uint8_t {
    kNearest,     // RESIZE_NEAREST_NEIGHBOR: each row or column of an image 2, 4 or 8 times
    kReflection,  // MIRROR_PAD
    kRepeated,    // each element `times` times; not an image, or another factor
    kSegments,    // any other: consecutive segments of the operand, concatenated
  } kind = Kind::kSegments;
  int64_t times = 1;   // kNearest, kRepeated
  int64_t before = 0;  // kReflection
  struct Segment {
    int64_t start = 0, end = 0;  // consecutive elements of the operand
  };
  std::vector<Segment> segments;  // the positions as segments; used for kSegments

  /// Returns the number of operands of a concat that computes the gather.
  [[nodiscard]] int64_t pieces() const;
};

/// Returns nothing if the positions are not constant.
[[nodiscard]] std::optional<Positions> positions_of(const ir::Graph& graph, const ir::Op& gather);

}  // namespace thimble::engine::neutron
