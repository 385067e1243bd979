#include "quant/weights.h"

#include <algorithm>
#include <cmath>

#include "numerics/fixed_point.h"
#include "numerics/multiplier.h"

namespace thimble::quant {
namespace {

constexpr double kWeightCodeMax = 127;
constexpr double kActivationMax = 255;  // largest |x - x_zp|
// Leaves room for rounding, and for a left shift of results that saturate.
constexpr double kAccumulatorMax = 0x1p30;

struct Channel {
  std::span<const float> w;
  double bias;
};

double largest(std::span<const float> w) {
  double result = 0;
  for (const float weight : w) result = std::max(result, std::abs(static_cast<double>(weight)));
  return result;
}

/// Largest |accumulator| if the channel has this weight scale.
double reach(const Channel& channel, double s_x, double s_w) {
  double sum = 0;
  for (const float weight : channel.w) {
    sum += std::min(kWeightCodeMax, std::abs(static_cast<double>(weight)) / s_w + 0.5);
  }
  return sum * kActivationMax + std::abs(channel.bias) / (s_x * s_w) + 1;
}

double as_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

/// The finest scale that holds the weights and keeps the accumulator in 32 bits.
double weight_scale(const Channel& channel, double s_x) {
  const double magnitude = largest(channel.w);
  // Without weights the bias alone decides.
  double scale = magnitude > 0       ? as_float(magnitude / kWeightCodeMax)
                 : channel.bias != 0 ? as_float(std::abs(channel.bias) / (s_x * 0x1p24))
                                     : 1.0;
  scale = std::max(scale, 0x1p-100);
  while (reach(channel, s_x, scale) > kAccumulatorMax) scale *= 2;
  return scale;
}

int8_t weight_code(float weight, double scale) {
  const double code = std::nearbyint(static_cast<double>(weight) / scale);
  return static_cast<int8_t>(std::clamp(code, -kWeightCodeMax, kWeightCodeMax));
}

}  // namespace

Result<IntegerWeights> quantize_weights(const ir::Tensor& w, const ir::Tensor* bias,
                                        const Params& x, const Params& y, bool per_channel) {
  const size_t channels = static_cast<size_t>(w.shape[0]);
  const size_t terms = w.data<float>().size() / channels;
  IntegerWeights result;
  std::vector<Channel> all;
  for (size_t c = 0; c < channels; ++c) {
    const double add = bias == nullptr ? 0.0 : static_cast<double>(bias->data<float>()[c]);
    all.push_back({w.data<float>().subspan(c * terms, terms), add});
    result.scale.push_back(weight_scale(all.back(), x.scale));
  }
  if (!per_channel) {
    double joint = 0;
    for (size_t c = 0; c < channels; ++c) {
      // A channel without weights or with next to none must not spoil the others' scale.
      if (largest(all[c].w) > 0 || bias != nullptr) joint = std::max(joint, result.scale[c]);
    }
    result.scale = {joint > 0 ? joint : 1.0};
  }
  const ir::Shape per_scale = {static_cast<int64_t>(result.scale.size())};
  result.w = ir::zeros(ir::DType::kI8, w.shape);
  result.bias = ir::zeros(ir::DType::kI32, {w.shape[0]});
  result.mult = ir::zeros(ir::DType::kI32, per_scale);
  result.shift = ir::zeros(ir::DType::kI32, per_scale);
  for (size_t c = 0; c < channels; ++c) {
    const size_t entry = per_channel ? c : 0;
    const double scale = result.scale[entry];
    for (size_t i = 0; i < terms; ++i) {
      result.w.data<int8_t>()[c * terms + i] = weight_code(all[c].w[i], scale);
    }
    result.bias.data<int32_t>()[c] =
        static_cast<int32_t>(std::nearbyint(all[c].bias / (x.scale * scale)));
    const auto multiplier = numerics::quantize_multiplier(x.scale * scale / y.scale);
    if (!numerics::shift_in_range(multiplier.shift)) {
      return unsupported("the multiplier {} of channel {} is beyond 2^{}",
                         x.scale * scale / y.scale, c, numerics::kShiftMax);
    }
    result.mult.data<int32_t>()[entry] = multiplier.mult;
    result.shift.data<int32_t>()[entry] = multiplier.shift;
  }
  return result;
}

}  // namespace thimble::quant
