// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators on tensors without elements, such as a slice of 0 columns.

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns true if the node has results and none of them has elements.
[[nodiscard]] bool has_only_empty_results(const Context& context, const formats::pt2::Node& node);

/// Returns true if the node has operands that are tensors, and none of them has elements.
[[nodiscard]] bool reads_only_empty(const Context& context, const formats::pt2::Node& node);

/// Binds the result of a node whose operands have no elements to a constant: 0 for a sum, the
/// padding for `pad`. Returns false for operators that are not supported.
[[nodiscard]] Result<bool> bind_result_of_empty(Context& context, const formats::pt2::Node& node,
                                                const ir::Source& source);

}  // namespace thimble::import_pt2
