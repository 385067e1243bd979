#pragma once
// Operators on tensors without elements, such as a slice of 0 columns.

#include <optional>
#include <string_view>

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns the number that all elements of the result are, given that no operand has elements: 0
/// for a sum, the padding for `pad`. Returns nothing for operators that are not supported.
[[nodiscard]] Result<std::optional<double>> result_of_empty(const Call& call,
                                                            std::string_view target);

}  // namespace thimble::import_pt2
