// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recognizes the function that a 256-entry lookup table computes, if the AXON supports it. The
// integer graph stores functions of one value as tables.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::axon {

/// A function of one value. It can be fused into the layer that computes the value, or be a layer.
struct Function {
  enum class Kind : uint8_t {
    kLine,     // requantization with a slope for x < 0: relu, leaky relu, change of scale
    kSigmoid,  // its operand has 12 fractional bits, as those of tanh and softmax
    kTanh,
    kSoftmax,
  } kind = Kind::kLine;
  double ratio = 1;            // kLine: scale of x divided by scale of the result
  std::vector<double> slopes;  // kLine: for negative x, one or one per channel; may be 1 or 0
  int64_t zero_point = 0;      // of the result
  bool rescaled = false;       // sigmoid, tanh: the result does not have the curve's fixed scale
  int64_t min = -128, max = 127;
  int64_t dim = 0;  // kSoftmax
};

/// Returns an unsupported error with the reason if no layer computes the function.
[[nodiscard]] Result<Function> function_of_table(std::span<const int8_t> table, const ir::Quant& x,
                                                 const ir::Quant& y);

/// Returns the function of an operator: lut, qprelu with constant slopes, or qsoftmax.
[[nodiscard]] Result<Function> function_of(const ir::Graph& graph, const ir::Op& op);
/// Returns true if the operator is a lut, qprelu or qsoftmax.
[[nodiscard]] bool is_function(ir::OpKind kind);

}  // namespace thimble::engine::axon
