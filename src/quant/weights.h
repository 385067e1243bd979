// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weights, bias and multipliers of qconv2d and similar operators.

#include <algorithm>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/tensor.h"
#include "ir/weight_bits.h"
#include "quant/pins.h"
#include "quant/range.h"

namespace thimble::quant {

/// Range of the codes of weights.
struct CodeRange {
  double min = -127, max = 127;

  [[nodiscard]] double largest() const { return std::max(-min, max); }
};
/// Returns [-127, 127] for 8 bits, [-8, 7] for 4.
[[nodiscard]] CodeRange code_range(int bits);

struct IntegerWeights {
  ir::TensorPtr w;  // i8 in [-127, 127]; with 4 bits in [-8, 7], or these times a factor
  int bits = 8;     // 8, or 4
  /// Factors of each output channel (group_weights.h); empty: none. w contains the products.
  std::vector<std::vector<uint8_t>> factors{};
  std::vector<double> scale;  // exact in float32; one per output channel, or one
  /// Returns the factor of weight i of a channel.
  [[nodiscard]] int32_t factor(size_t channel, size_t i) const {
    return factors.empty() ? 1 : factors[channel][i / static_cast<size_t>(ir::kWeightGroup)];
  }
  ir::TensorPtr bias;         // i32 at scale s_x * s_w; i64 for 16-bit activations
  ir::TensorPtr mult, shift;  // i32, one per output channel, or one
};

/// Rounded weights of one operator (adaptive_rounding.h).
struct AdaptedWeights {
  ir::Tensor codes;  // i8, shape of the weights
};

struct WeightRequest {
  const ir::Tensor* w = nullptr;     // f32 [O, I/groups, ...]
  const ir::Tensor* bias = nullptr;  // f32 [O]; null if the operator has no bias
  size_t groups = 1;
  Params x, y;  // parameters of operand and result
  /// Mean of each input channel. Rounded weights w' shift the result by sum (w' - w) * mean on
  /// average; the bias compensates for it. If empty, the bias is not corrected.
  std::span<const double> x_means;
  /// Mean fraction of a channel's taps that read an input: less than 1 for a transposed convolution
  /// with a stride.
  double coverage = 1;
  bool per_channel = true;
  int bits = 8;          // 4: codes in [-8, 7], with the scale that has the least squared error
  bool grouped = false;  // with 4 bits: a factor for each group of weights (group_weights.h)
  const AdaptedWeights* adapted = nullptr;  // null: the nearest codes
  std::span<const double> bias_error;  // mean error of the result, by output channel; may be empty
};

/// Returns the finest scale with which the largest weight is 127; 0 if all weights are 0.
[[nodiscard]] double symmetric_weight_scale(std::span<const float> w);

/// Returns the scale with the least squared error of codes with 4 bits, at least `finest`. Few
/// codes represent most weights better if the largest weights are clipped: for normally distributed
/// weights the best range ends at about 2.5 standard deviations.
[[nodiscard]] double int4_weight_scale(std::span<const float> w, double finest);

/// Quantizes the weights symmetrically. The scales are as fine as the accumulators allow: 32 bits,
/// or 47 bits for 16-bit activations.
[[nodiscard]] Result<IntegerWeights> quantize_weights(const WeightRequest& request);

/// Does the same as quantize_weights() for weights that PyTorch quantized. The quantized weights do
/// not change, nor does a bias with scale s_x * s_w. `bias` has the quantized bias; null if
/// request.bias is float or absent. A channel whose accumulator would exceed its limit gets a
/// coarser scale. If request.bits is 4 and a weight is outside [-8, 7], the result has 8 bits.
[[nodiscard]] Result<IntegerWeights> requantize_given_weights(const WeightRequest& request,
                                                              const QuantizedConstant& weights,
                                                              const QuantizedConstant* bias);

}  // namespace thimble::quant
