#pragma once
// Complex tensors. The only facts of a complex tensor that a graph keeps are the squares of its
// magnitudes: the IR value of a complex tensor is its power, and views of the tensor are views of
// the power. Operators that need more are refused.

#include <string>
#include <string_view>

#include "import/handlers.h"

namespace thimble::import_pt2 {

/// Returns true if an operand of the node is complex.
[[nodiscard]] bool reads_complex(const Context& context, const formats::pt2::Node& node);
[[nodiscard]] bool is_complex(formats::pt2::ScalarType type);
/// Returns the handler of an operator whose operand is complex; null if it needs more than the
/// power.
[[nodiscard]] Handler find_complex_handler(std::string_view target);
/// Returns why an operator on complex tensors or spectra is refused, and the nearest supported
/// form; empty for other operators.
[[nodiscard]] std::string spectrum_refusal(std::string_view target, bool complex_operand);

}  // namespace thimble::import_pt2
