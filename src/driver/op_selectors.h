// SPDX-License-Identifier: Apache-2.0
#pragma once
// Op selectors: patterns that select single operators, and options that apply to them.
//
// A pattern is an operator ("aten.add.Tensor", "add"), a node ("conv2d_1"), a source line
// ("net.py:31") or a module path ("features.3", including its submodules). `*` matches any
// characters. Names are those of the imported graph. A pattern without a match is an error that
// suggests similar names.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::driver {

/// kInt4: weights of 4 bits and int8 activations.
enum class Precision : uint8_t { kInt8, kInt16, kFloat, kInt4 };

struct QuantChoice {
  std::string pattern;
  Precision precision = Precision::kInt8;
};

/// Parses `PATTERN=int8`; an error lists what is expected.
[[nodiscard]] Result<QuantChoice> parse_quant_choice(std::string_view text);

/// Returns the indices of the operators that the pattern matches.
[[nodiscard]] std::vector<size_t> matches(const ir::Graph& graph, std::string_view pattern);

/// As matches(), but no match is an error. `option` is the start of the message.
[[nodiscard]] Result<std::vector<size_t>> select_ops(const ir::Graph& graph,
                                                     std::string_view pattern,
                                                     std::string_view option);

/// The precisions of kernels on the target, in addition to int8.
struct Kernels {
  bool int16 = false;                  // activations
  bool float32 = false;                // activations and weights
  std::string_view float32_note = "";  // why not: the end of the message
  bool int4 = false;                   // weights
};

/// Checks that every pattern matches and that kernels exist for the requested precision. Otherwise
/// returns `unsupported` with each operator and its source line.
[[nodiscard]] Status check_choices(const ir::Graph& graph, const std::vector<QuantChoice>& choices,
                                   std::string_view target, const Kernels& kernels);

/// Returns a function that is true for operators with 16-bit results. The operator is one of a
/// graph derived from the imported one. The last choice that matches it decides, else `all_wide`.
/// The function is empty if no operator can have 16 bits.
[[nodiscard]] std::function<bool(const ir::Graph&, const ir::Op&)> wide_choice(
    const std::vector<QuantChoice>& choices, bool all_wide);

/// Returns true if a choice matches the operator of a graph derived from the imported one.
[[nodiscard]] bool has_choice(const std::vector<QuantChoice>& choices, const ir::Graph& graph,
                              const ir::Op& op);

/// Returns a function that is true for operators that stay in float32. The last choice that matches
/// decides. The function is empty if there is none.
[[nodiscard]] std::function<bool(const ir::Graph&, const ir::Op&)> float_choice(
    const std::vector<QuantChoice>& choices);

/// Returns a function that is true for operators whose weights get 4 bits, if they have such a
/// form. The last choice that matches the operator decides, else `all_int4`. The function is empty
/// if no operator can have them.
[[nodiscard]] std::function<bool(const ir::Graph&, const ir::Op&)> int4_choice(
    const std::vector<QuantChoice>& choices, bool all_int4);

}  // namespace thimble::driver
