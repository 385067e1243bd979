// SPDX-License-Identifier: Apache-2.0
#include "quant/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rounding.h"
#include "ir/weight_bits.h"
#include "numerics/fixed_point.h"
#include "numerics/int16.h"
#include "numerics/multiplier.h"
#include "quant/group_weights.h"

namespace thimble::quant {
namespace {

constexpr double kWeightCodeMax = 127;

/// Limits of the accumulator arithmetic.
struct Limits {
  double activation;   // largest |x - x_zp|
  double accumulator;  // upper bound with margin for rounding and for left shifts that saturate
  int32_t shift;       // largest shift of a multiplier
};
Limits limits_of(const Params& x) {
  if (x.wide) return {32768, 0x1p46, numerics::kRequantize64ShiftMax};
  return {255, 0x1p30, numerics::kShiftMax};
}

struct Channel {
  std::span<const float> w;
  double bias;
};

double largest(std::span<const float> w) {
  double result = 0;
  for (const float weight : w) result = std::max(result, std::abs(static_cast<double>(weight)));
  return result;
}

/// Returns an upper bound of |accumulator| if the channel has the weight scale `s_w`.
double reach(const Channel& channel, const Params& x, double s_w) {
  double sum = 0;
  for (const float weight : channel.w) {
    sum += std::min(kWeightCodeMax, std::abs(static_cast<double>(weight)) / s_w + 0.5);
  }
  return sum * limits_of(x).activation + std::abs(channel.bias) / (x.scale * s_w) + 1;
}

double as_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

}  // namespace

double symmetric_weight_scale(std::span<const float> w) {
  return as_float(largest(w) / kWeightCodeMax);
}

namespace {

/// Returns the finest scale that represents the weights and keeps the accumulator within its limit.
double weight_scale(const Channel& channel, const Params& x) {
  const double magnitude = largest(channel.w);
  // If all weights are 0, the bias determines the scale.
  double scale = magnitude > 0       ? symmetric_weight_scale(channel.w)
                 : channel.bias != 0 ? as_float(std::abs(channel.bias) / (x.scale * 0x1p24))
                                     : 1.0;
  scale = std::max(scale, 0x1p-100);
  while (reach(channel, x, scale) > limits_of(x).accumulator) scale *= 2;
  return scale;
}

/// Returns scale and factors of a channel with weights of 4 bits in groups. If all weights are 0,
/// the scale is `zero_scale`.
GroupScales grouped_scales(const Channel& channel, const Params& x, double zero_scale) {
  if (largest(channel.w) == 0) {
    const int64_t groups = divide_up(std::ssize(channel.w), ir::kWeightGroup);
    return {zero_scale, std::vector<uint8_t>(static_cast<size_t>(groups), 1)};
  }
  GroupScales scales = group_scales(channel.w, 0x1p-100);
  const auto accumulator_bound = [&](const GroupScales& tried) {
    return grouped_magnitude(channel.w, tried) * limits_of(x).activation +
           std::abs(channel.bias) / (x.scale * tried.scale) + 1;
  };
  while (accumulator_bound(scales) > limits_of(x).accumulator) {
    scales = group_scales(channel.w, 2 * scales.scale);
  }
  return scales;
}

int8_t weight_code(float weight, double scale, const CodeRange& range) {
  const double code = std::nearbyint(static_cast<double>(weight) / scale);
  return static_cast<int8_t>(std::clamp(code, range.min, range.max));
}

/// Returns the mean error of output channel `o` that is caused by rounding the weights.
double mean_shift(const WeightRequest& request, size_t o, std::span<const float> w,
                  std::span<const int8_t> codes, double scale) {
  const size_t channels_per_group = static_cast<size_t>(request.w->shape[1]);
  const size_t outputs_per_group = static_cast<size_t>(request.w->shape[0]) / request.groups;
  const size_t first = o / outputs_per_group * channels_per_group;
  const size_t taps = w.size() / channels_per_group;
  double shift = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const double error = codes[i] * scale - static_cast<double>(w[i]);
    shift += error * request.x_means[first + i / taps];
  }
  return shift;
}

/// Returns one scale for all channels: the coarsest scale that any channel needs.
double joint_scale(const std::vector<double>& scales, const std::vector<Channel>& channels) {
  double joint = 0;
  for (size_t c = 0; c < scales.size(); ++c) {
    // A channel with zero weights and zero bias does not constrain the scale.
    if (largest(channels[c].w) > 0 || channels[c].bias != 0) joint = std::max(joint, scales[c]);
  }
  return joint > 0 ? joint : 1.0;
}

/// The tensors of an IntegerWeights, until they are complete.
struct Tensors {
  ir::Tensor w, bias, mult, shift;

  void move_to(IntegerWeights* result) {
    result->w = std::make_shared<const ir::Tensor>(std::move(w));
    result->bias = std::make_shared<const ir::Tensor>(std::move(bias));
    result->mult = std::make_shared<const ir::Tensor>(std::move(mult));
    result->shift = std::make_shared<const ir::Tensor>(std::move(shift));
  }
};

Status set_multiplier(const WeightRequest& request, size_t channel, double scale, size_t entry,
                      Tensors& result) {
  const double real = request.x.scale * scale / request.y.scale;
  const auto multiplier = numerics::quantize_multiplier(real);
  const int32_t most = limits_of(request.x).shift;
  if (multiplier.shift > most) {
    return unsupported("the multiplier {} of channel {} exceeds 2^{}", real, channel, most);
  }
  result.mult.data<int32_t>()[entry] = multiplier.mult;
  result.shift.data<int32_t>()[entry] = multiplier.shift;
  return ok();
}

ir::DType bias_dtype(const WeightRequest& request) {
  return request.x.wide ? ir::DType::kI64 : ir::DType::kI32;
}
void set_bias(ir::Tensor& bias, size_t channel, double code) {
  const double nearest = std::nearbyint(code);
  if (bias.dtype == ir::DType::kI64) {
    bias.data<int64_t>()[channel] = static_cast<int64_t>(nearest);
  } else {
    bias.data<int32_t>()[channel] = static_cast<int32_t>(nearest);
  }
}

/// Returns the quantized weights with zero point 0.
Result<ir::Tensor> symmetric_codes(const QuantizedConstant& weights) {
  if (weights.codes->dtype != ir::DType::kI8) {
    return unsupported("its weights are {}, expected int8 or uint8",
                       ir::dtype_name(weights.codes->dtype));
  }
  if (weights.axis > 0) {
    return unsupported("its weights have a scale per index of dimension {}, expected dimension 0",
                       weights.axis);
  }
  ir::Tensor codes = *weights.codes;
  const auto w = codes.data<int8_t>();
  const size_t terms = w.size() / weights.scale.size();
  for (size_t i = 0; i < w.size(); ++i) {
    const int32_t code = w[i] - weights.zero_point[i / terms];
    if (code < -128 || code > 127) {
      return unsupported("its weights have zero point {}, expected symmetric weights",
                         weights.zero_point[i / terms]);
    }
    w[i] = static_cast<int8_t>(code);
  }
  return codes;
}

/// Returns the bias of a channel in units of s_x * s_w.
double bias_code(const WeightRequest& request, const QuantizedConstant* bias, size_t channel,
                 double unit) {
  if (request.bias == nullptr) return 0;
  const double real = static_cast<double>(request.bias->data<float>()[channel]);
  if (bias == nullptr || bias->codes->dtype != ir::DType::kI32) return std::nearbyint(real / unit);
  const size_t entry = bias->scale.size() == 1 ? 0 : channel;
  constexpr double kEqual = 0x1p-20;  // tolerance for products of float32 scales
  if (std::abs(bias->scale[entry] / unit - 1) > kEqual) return std::nearbyint(real / unit);
  return static_cast<double>(int64_t{bias->codes->data<int32_t>()[channel]} -
                             bias->zero_point[entry]);
}

}  // namespace

double int4_weight_scale(std::span<const float> w, double finest) {
  constexpr int kTrials = 80;  // the coarsest scale times 1, 0.99, ...
  const CodeRange range = code_range(4);
  const double coarsest = largest(w) / range.max;
  double best = std::max(as_float(coarsest), finest);
  double best_error = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < kTrials; ++trial) {
    const double scale = as_float(coarsest * (1 - 0.01 * trial));
    if (scale < finest) break;
    double error = 0;
    for (const float weight : w) {
      const double difference = weight_code(weight, scale, range) * scale - double{weight};
      error += difference * difference;
    }
    if (error >= best_error) continue;
    best_error = error;
    best = scale;
  }
  return best;
}

CodeRange code_range(int bits) {
  return bits == 4 ? CodeRange{-8, 7} : CodeRange{-kWeightCodeMax, kWeightCodeMax};
}

Result<IntegerWeights> quantize_weights(const WeightRequest& request) {
  const ir::Tensor& w = *request.w;
  const size_t channels = static_cast<size_t>(w.shape[0]);
  const size_t terms = w.data<float>().size() / channels;
  IntegerWeights result;
  Tensors tensors;
  result.bits = request.bits;
  const CodeRange range = code_range(request.bits);
  const bool grouped = request.grouped && request.bits == 4 && request.per_channel;
  std::vector<Channel> all;
  for (size_t c = 0; c < channels; ++c) {
    const float add = request.bias == nullptr ? 0.0F : request.bias->data<float>()[c];
    all.push_back({w.data<float>().subspan(c * terms, terms), static_cast<double>(add)});
    result.scale.push_back(weight_scale(all.back(), request.x));
    if (grouped) {
      GroupScales scales = grouped_scales(all.back(), request.x, result.scale.back());
      result.scale.back() = scales.scale;
      result.factors.push_back(std::move(scales.factors));
    } else if (request.bits == 4) {
      result.scale.back() = int4_weight_scale(all.back().w, result.scale.back());
    }
  }
  if (!request.per_channel) result.scale = {joint_scale(result.scale, all)};
  const ir::Shape per_scale = {static_cast<int64_t>(result.scale.size())};
  tensors.w = ir::zeros(ir::DType::kI8, w.shape);
  tensors.bias = ir::zeros(bias_dtype(request), {w.shape[0]});
  tensors.mult = ir::zeros(ir::DType::kI32, per_scale);
  tensors.shift = ir::zeros(ir::DType::kI32, per_scale);
  for (size_t c = 0; c < channels; ++c) {
    const size_t entry = request.per_channel ? c : 0;
    const double scale = result.scale[entry];
    const auto codes = tensors.w.data<int8_t>().subspan(c * terms, terms);
    double bias = all[c].bias;
    if (request.adapted != nullptr) {
      std::ranges::copy(request.adapted->codes.data<int8_t>().subspan(c * terms, terms),
                        codes.begin());
    } else {
      for (size_t i = 0; i < terms; ++i) {
        codes[i] = grouped ? grouped_code(all[c].w[i], scale, result.factor(c, i))
                           : weight_code(all[c].w[i], scale, range);
      }
    }
    if (request.bias != nullptr && !request.x_means.empty()) {
      bias -= mean_shift(request, c, all[c].w, codes, scale) * request.coverage;
    }
    if (request.bias != nullptr && !request.bias_error.empty()) bias -= request.bias_error[c];
    const double most = limits_of(request.x).accumulator;
    set_bias(tensors.bias, c, std::clamp(bias / (request.x.scale * scale), -most, most));
    THIMBLE_CHECK(set_multiplier(request, c, scale, entry, tensors));
  }
  tensors.move_to(&result);
  return result;
}

Result<IntegerWeights> requantize_given_weights(const WeightRequest& request,
                                                const QuantizedConstant& weights,
                                                const QuantizedConstant* bias) {
  IntegerWeights result;
  Tensors tensors;
  THIMBLE_TRY(tensors.w, symmetric_codes(weights));
  const size_t channels = static_cast<size_t>(tensors.w.shape[0]);
  const size_t terms = tensors.w.data<int8_t>().size() / channels;
  result.scale = weights.scale;
  tensors.bias = ir::zeros(bias_dtype(request), {tensors.w.shape[0]});
  std::vector<double> coarser(channels, 1.0);
  std::vector<double> biases(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double scale = weights.scale[weights.scale.size() == 1 ? 0 : c];
    biases[c] = bias_code(request, bias, c, request.x.scale * scale);
    double reach = std::abs(biases[c]);
    for (const int8_t code : tensors.w.data<int8_t>().subspan(c * terms, terms)) {
      reach += limits_of(request.x).activation * std::abs(code);
    }
    while (reach / coarser[c] > limits_of(request.x).accumulator) coarser[c] *= 2;
  }
  const double most = *std::max_element(coarser.begin(), coarser.end());
  if (most > 1) result.scale.resize(channels, weights.scale[0]);
  for (size_t c = 0; c < channels; ++c) {
    set_bias(tensors.bias, c, biases[c] / coarser[c]);
    if (coarser[c] == 1) continue;
    result.scale[c] *= coarser[c];
    for (int8_t& code : tensors.w.data<int8_t>().subspan(c * terms, terms)) {
      code = static_cast<int8_t>(std::nearbyint(code / coarser[c]));
    }
  }
  const ir::Shape per_scale = {static_cast<int64_t>(result.scale.size())};
  tensors.mult = ir::zeros(ir::DType::kI32, per_scale);
  tensors.shift = ir::zeros(ir::DType::kI32, per_scale);
  for (size_t entry = 0; entry < result.scale.size(); ++entry) {
    THIMBLE_CHECK(set_multiplier(request, entry, result.scale[entry], entry, tensors));
  }
  const bool fits = std::ranges::all_of(tensors.w.data<int8_t>(),
                                        [](int8_t code) { return code >= -8 && code <= 7; });
  if (request.bits == 4 && fits) result.bits = 4;
  tensors.move_to(&result);
  return result;
}

}  // namespace thimble::quant
