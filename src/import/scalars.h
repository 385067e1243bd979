// SPDX-License-Identifier: Apache-2.0
#pragma once
// Python numbers that the export keeps as nodes: elements of known tensors, and arithmetic on them.

#include <optional>

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns the number that a node computes: an element of a known tensor, or arithmetic on known
/// numbers. Returns nothing for other nodes, and for a size that is given as an expression.
[[nodiscard]] std::optional<double> known_scalar(Call& call, std::string_view target);

/// Sets the Python numbers that a node computes: sym_size, numbers of known tensors,
/// and arithmetic on them. The archive gives each size as an expression of the symbols.
void bind_scalars(Context& context, const formats::pt2::Node& node, const ir::Source& source);

}  // namespace thimble::import_pt2
