// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recognizes the function that a table of 256 entries computes. The integer graph represents
// functions of one value as tables; other tools have an operator for some of them.

#include <optional>

#include "ir/graph.h"

namespace thimble::interchange {

/// A function that has a LiteRT operator.
struct Function {
  enum class Kind : uint8_t {
    kAbs,
    kClamp,  // to [min, max] in real numbers; bounds may be infinite: RELU, RELU6, RELU_0_TO_1, ...
    kExp,
    kHardSwish,
    kLeakyRelu,  // alpha
    kLog,
    kLogistic,
    kNeg,
    kRescale,  // identity with another quantization
    kRsqrt,
    kTanh,
  } kind{};
  double alpha = 0;         // kLeakyRelu: slope for negative numbers
  double min = 0, max = 0;  // kClamp
};

/// Returns the function of a `lut`: every entry must equal the function's table for the scales and
/// zero points of operand and result. Returns nullopt for other tables and unknown scales. Simpler
/// functions have priority: a table that is both a clamp and a leaky relu is a clamp.
[[nodiscard]] std::optional<Function> recognize_table_function(const ir::Graph& graph,
                                                               const ir::Op& lut);

}  // namespace thimble::interchange
