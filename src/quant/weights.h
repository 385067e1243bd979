#pragma once
// Weights, bias and multipliers of qconv2d and qlinear.

#include <vector>

#include "base/result.h"
#include "ir/tensor.h"
#include "quant/range.h"

namespace thimble::quant {

struct IntegerWeights {
  ir::Tensor w;               // i8, codes in [-127, 127]
  std::vector<double> scale;  // float32 numbers: one per output channel, or one
  ir::Tensor bias;            // i32 at scale s_x * s_w
  ir::Tensor mult, shift;     // i32, one per output channel, or one
};

/// Symmetric codes for w [O, ...] and bias [O] (null: none), for the given operand and result.
/// Scales are as fine as they can be with 32-bit accumulators.
[[nodiscard]] Result<IntegerWeights> quantize_weights(const ir::Tensor& w, const ir::Tensor* bias,
                                                      const Params& x, const Params& y,
                                                      bool per_channel);

}  // namespace thimble::quant
