#pragma once
// What a table of 256 codes computes, where the AXON knows it: tables are how the integer graph
// says functions of one value.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::axon {

/// A function of a value that may run in the same layer as what makes the value, or in one of its
/// own.
struct Function {
  enum class Kind : uint8_t {
    kLine,     // (x below 0 times its slope), requantized: relu, leaky relu, another scale
    kSigmoid,  // of numbers with 12 fractional bits
    kTanh,
    kSoftmax,
  } kind = Kind::kLine;
  double ratio = 1;            // kLine: scale of x by scale of the result
  std::vector<double> slopes;  // kLine: of negative x, one or one per channel; 1 and 0 too
  int64_t zero_point = 0;      // of the result
  bool rescaled = false;       // sigmoid, tanh: the result has not the curve's own scale
  int64_t min = -128, max = 127;
  int64_t dim = 0;  // kSoftmax
};

/// Not supported: functions that no layer computes, with the reason.
[[nodiscard]] Result<Function> function_of_table(std::span<const int8_t> table, const ir::Quant& x,
                                                 const ir::Quant& y);

/// The same of an operator of one value: lut, qprelu with constant slopes, qsoftmax. `x` is the
/// value's scale and zero point.
[[nodiscard]] Result<Function> function_of(const ir::Graph& graph, const ir::Op& op);
/// Is it one of these operators?
[[nodiscard]] bool is_function(ir::OpKind kind);

}  // namespace thimble::engine::axon
