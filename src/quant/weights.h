#pragma once
// Weights, bias and multipliers of qconv2d and its kin.

#include <span>
#include <vector>

#include "base/result.h"
#include "ir/tensor.h"
#include "quant/pins.h"
#include "quant/range.h"

namespace thimble::quant {

struct IntegerWeights {
  ir::Tensor w;               // i8, codes in [-127, 127]
  std::vector<double> scale;  // float32 numbers: one per output channel, or one
  ir::Tensor bias;            // i32 at scale s_x * s_w; i64 for 16-bit activations
  ir::Tensor mult, shift;     // i32, one per output channel, or one
};

struct WeightRequest {
  const ir::Tensor* w = nullptr;     // f32 [O, I/groups, ...]
  const ir::Tensor* bias = nullptr;  // f32 [O]; null: none
  size_t groups = 1;
  Params x, y;  // of operand and result
  /// Mean of each input channel. Rounding the weights shifts the result by sum (w' - w) * mean on
  /// average, which the bias takes back. Empty: it does not.
  std::span<const double> x_means;
  /// How many of a channel's taps meet an input, on average over the output: less than 1 for a
  /// transposed convolution with a stride.
  double coverage = 1;
  bool per_channel = true;
};

/// Symmetric codes; scales are as fine as the accumulators can be: 32 bits, or 47.
[[nodiscard]] Result<IntegerWeights> quantize_weights(const WeightRequest& request);

/// The same from the codes that PyTorch chose, which stay as they are; so does the bias where its
/// scale is s_x * s_w. `bias`: its codes, null if request.bias is float or absent. A channel whose
/// accumulator would pass 32 bits gets coarser codes.
[[nodiscard]] Result<IntegerWeights> given_weights(const WeightRequest& request,
                                                   const ConstantCodes& weights,
                                                   const ConstantCodes* bias);

}  // namespace thimble::quant
