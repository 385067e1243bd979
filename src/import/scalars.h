#pragma once
// Python numbers that the export keeps as nodes: elements of known tensors, and arithmetic on them.

#include <optional>

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns the number that a node computes: an element of a known tensor, or arithmetic on known
/// numbers. Returns nothing for other nodes, and for a size that is given as an expression.
[[nodiscard]] std::optional<double> known_scalar(Call& call, std::string_view target);

}  // namespace thimble::import_pt2
