// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators that need no copy: the result has the bytes of its operands, or each piece is one
// contiguous run of bytes.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::ir {

/// Returns true if the result has exactly the bytes of the first operand, so it needs no call.
[[nodiscard]] bool is_alias(const Graph& graph, const Op& op);

/// An operator whose result and operands can share bytes if they are placed accordingly.
struct View {
  /// Offset of each operand in the result, in bytes. A slice's operand begins before the result, so
  /// its offset is negative or 0.
  std::vector<int64_t> at;
};
/// Returns nothing for other operators, and for pieces that are not contiguous in memory.
[[nodiscard]] std::optional<View> view_of(const Graph& graph, const Op& op);

}  // namespace thimble::ir
