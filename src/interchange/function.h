#pragma once
// What a table of 256 codes computes: tables are how the integer graph says functions of one value,
// and other tools have an operator for some of them.

#include <optional>

#include "ir/graph.h"

namespace thimble::interchange {

/// A function that LiteRT has an operator for.
struct Function {
  enum class Kind : uint8_t {
    kAbs,
    kClamp,  // to [min, max] in real numbers, either may be infinite: RELU, RELU6, RELU_0_TO_1, ...
    kExp,
    kHardSwish,
    kLeakyRelu,  // alpha
    kLog,
    kLogistic,
    kNeg,
    kRescale,  // the same number in other codes
    kRsqrt,
    kTanh,
  } kind{};
  double alpha = 0;         // kLeakyRelu: slope of negative numbers
  double min = 0, max = 0;  // kClamp
};

/// Of a `lut`: the function whose table for the scales and zero points of its operand and result
/// this is, entry for entry; nothing if it is another one, or the scales are not known. Plainer
/// functions come first: a table that is both a clamp and a leaky relu is a clamp.
[[nodiscard]] std::optional<Function> function_of_table(const ir::Graph& graph, const ir::Op& lut);

}  // namespace thimble::interchange
