#pragma once
// What the user decides about single operators: patterns that name them, and what they ask for.
//
// A pattern is an operator ("aten.add.Tensor", "add"), a node ("conv2d_1"), a line of the user's
// ("net.py:31") or a module path ("features.3", with all that is inside); `*` stands for anything.
// All are names of the imported graph. A pattern that matches nothing is an error which names what
// comes close.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::driver {

enum class Precision : uint8_t { kInt8, kInt16, kFloat };

struct QuantChoice {
  std::string pattern;
  Precision precision = Precision::kInt8;
};

/// `PATTERN=int8`; bad input says what is expected.
[[nodiscard]] Result<QuantChoice> parse_quant_choice(std::string_view text);

/// Indices of the operators that the pattern names.
[[nodiscard]] std::vector<size_t> matches(const ir::Graph& graph, std::string_view pattern);

/// The same: at least one, or it is an error. `option` begins the message.
[[nodiscard]] Result<std::vector<size_t>> select_ops(const ir::Graph& graph,
                                                     std::string_view pattern,
                                                     std::string_view option);

/// Every pattern matches, and kernels exist for what is asked for. Not supported: each operator
/// that cannot have its precision, with the user's line.
[[nodiscard]] Status check_choices(const ir::Graph& graph, const std::vector<QuantChoice>& choices,
                                   std::string_view target, bool has_int16);

/// Whether an operator of a graph that came from the imported one shall have 16 bits: what the last
/// choice that names it says, else `all_wide`. Empty if no operator shall.
[[nodiscard]] std::function<bool(const ir::Graph&, const ir::Op&)> wide_choice(
    const std::vector<QuantChoice>& choices, bool all_wide);

}  // namespace thimble::driver
