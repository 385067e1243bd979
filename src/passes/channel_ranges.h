// SPDX-License-Identifier: Apache-2.0
#pragma once
// The smallest and the largest int8 value that each channel can have, for any input of the graph.
//
// A sum of products is bounded by the bounds of its operands, and the requantization is monotone. A
// channel whose bounds are equal is constant: typically one whose bias or multiplier keeps it at
// the lower bound of its activation. Bounds are not exact: two channels of one operand are taken as
// independent, and operators that this file does not know give any value of the type.

#include <cstdint>
#include <vector>

#include "passes/channel_groups.h"

namespace thimble::passes {

struct ChannelRange {
  int64_t low = 0, high = 0;
  [[nodiscard]] bool is_constant() const { return low == high; }
};

/// Ranges by value and channel; empty for values without channels.
[[nodiscard]] std::vector<std::vector<ChannelRange>> channel_ranges(const ir::Graph& graph,
                                                                    const ChannelGroups& groups);

/// Returns true if a position of the window of `op` may be padding.
[[nodiscard]] bool has_padding(const ir::Op& op);
/// Returns the zero point of operand 0 of a convolution or linear; 0 for 16-bit operands.
[[nodiscard]] int64_t zero_point_of_x(const ir::Op& op);

}  // namespace thimble::passes
