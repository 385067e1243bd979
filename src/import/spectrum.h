// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spectra of which a network only reads magnitudes. The only facts of such a complex tensor that a
// graph keeps are the squares of its magnitudes: its IR value is its power, and views of the tensor
// are views of the power. Complex tensors of which more is read are pairs (complex_pairs.h).

#include <string>
#include <string_view>
#include <vector>

#include "import/handlers.h"

namespace thimble::import_pt2 {

/// Returns true if an operand of the node is complex.
[[nodiscard]] bool reads_complex(const Context& context, const formats::pt2::Node& node);
[[nodiscard]] bool is_complex(formats::pt2::ScalarType type);
/// Returns true for operators that move the elements of a complex tensor.
[[nodiscard]] bool is_complex_view(std::string_view target);
/// Returns the factor of a transform of n elements. `norm`: "backward", "ortho" or "forward".
[[nodiscard]] double factor_of_norm(std::string_view norm, int64_t n, bool inverse);
/// Same for the numbers of fft_norm_mode: 0 for 1, 1 for 1 / sqrt(n), 2 for 1 / n.
[[nodiscard]] double factor_of_mode(int64_t mode, int64_t n);
/// Returns the window of a short-time transform: zeros before and after `window` up to n elements.
[[nodiscard]] Result<std::vector<float>> stft_window(Call& call, int64_t n);
/// Returns the handler of an operator whose operand is complex; null if it needs more than the
/// power.
[[nodiscard]] Handler find_complex_handler(std::string_view target);
/// Returns why an operator on complex tensors or spectra is refused, and the nearest supported
/// form; empty for other operators.
[[nodiscard]] std::string spectrum_refusal(std::string_view target, bool complex_operand);

}  // namespace thimble::import_pt2
