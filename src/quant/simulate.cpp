// SPDX-License-Identifier: Apache-2.0
#include "quant/simulate.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "numerics/fixed_point.h"
#include "numerics/int16.h"
#include "quant/fast/broadcast.h"
#include "quant/fast/code_product.h"
#include "quant/fast/convolution.h"
#include "quant/fast/matmul.h"
#include "quant/fast/movement.h"
#include "quant/fast/requantize.h"
#include "quant/fast/transposed.h"

namespace thimble::quant {
namespace {

using eval::Call;

constexpr int64_t kExactInFloat = int64_t{1} << 24;

int32_t attribute(const Call& call, ir::AttrKey<int64_t> key) {
  return static_cast<int32_t>(call.get(key));
}

int32_t requantize(int32_t value, int32_t mult, int32_t shift, bool single) {
  return single ? numerics::requantize_single(value, mult, shift)
                : numerics::requantize(value, mult, shift);
}

/// Converts accumulators of one output channel to quantized values.
struct ChannelRequantizer {
  int32_t bias, zero_point, low, high;
  Requantizer requantizer;

  template <typename T>
  [[nodiscard]] int8_t operator()(T accumulator) const {
    return code(requantizer(numerics::wrap_add(static_cast<int32_t>(accumulator), bias)));
  }
  /// Converts kRequantizeBlock sums in place.
  void run_block(int32_t* sums, int8_t* y) const {
    for (int64_t i = 0; i < kRequantizeBlock; ++i) sums[i] = numerics::wrap_add(sums[i], bias);
    requantizer.run_block(sums);
    for (int64_t i = 0; i < kRequantizeBlock; ++i) y[i] = code(sums[i]);
  }

 private:
  [[nodiscard]] int8_t code(int32_t scaled) const {
    return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(scaled, zero_point), low, high));
  }
};

/// Returns the requantizer of a qconv2d, qconv_transpose2d or qlinear.
ChannelRequantizer requantizer(const Call& call, size_t channel) {
  const auto entry = [&](size_t operand) {
    const auto values = call.input<int32_t>(operand);
    return values[values.size() == 1 ? 0 : channel];
  };
  return {call.has(2) ? call.input<int32_t>(2)[channel] : 0, attribute(call, ir::attr::y_zp),
          attribute(call, ir::attr::min), attribute(call, ir::attr::max),
          Requantizer(entry(3), entry(4), call.get(ir::attr::rounding) != 0)};
}

/// Returns true if float32 represents every partial sum of every output channel of a
/// qconv_transpose2d exactly.
bool transposed_fits_float(const Call& call) {
  const int32_t zero_point = attribute(call, ir::attr::x_zp);
  const int64_t largest_x = std::max(127 - zero_point, zero_point + 128);
  const ir::Shape& shape = call.shape(1);
  const size_t inputs = static_cast<size_t>(shape[0] / call.get(ir::attr::groups));
  const size_t outputs = static_cast<size_t>(shape[1]);
  const size_t taps = static_cast<size_t>(shape[2] * shape[3]);
  const auto w = call.input<int8_t>(1);
  std::vector<int64_t> sums(static_cast<size_t>(call.output.shape[1]), 0);
  for (size_t i = 0; i < w.size(); ++i) {
    sums[i / taps / outputs / inputs * outputs + i / taps % outputs] += std::abs(w[i]);
  }
  return *std::max_element(sums.begin(), sums.end()) * largest_x < kExactInFloat;
}

template <typename T, typename Code>
T* shifted(std::span<const Code> codes, int32_t zero_point, Scratch& scratch, size_t slot) {
  T* values = scratch.get<T>(slot, codes.size());
  const Code* from = codes.data();
  const size_t count = codes.size();
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(from[i] - zero_point);
  return values;
}

int16_t wide_code(int32_t scaled, int32_t low, int32_t high) {
  return static_cast<int16_t>(numerics::clamp(scaled, low, high));
}

/// Converts 64-bit sums of one output channel to int16. Sums are below 2^47 and exact in double.
struct WideChannelRequantizer {
  int32_t low, high;
  WideRequantizer requantizer;

  template <typename T>
  [[nodiscard]] int16_t operator()(T accumulator) const {
    return wide_code(requantizer(static_cast<int64_t>(accumulator)), low, high);
  }
  /// Converts kRequantizeBlock sums in place.
  void run_block(int32_t* sums, int16_t* y) const {
    requantizer.run_block(sums);
    for (int64_t i = 0; i < kRequantizeBlock; ++i) y[i] = wide_code(sums[i], low, high);
  }
};
/// Converts 32-bit sums of 16-bit activations to int16.
struct WideSumRequantizer {
  int32_t low, high;
  Requantizer requantizer;

  [[nodiscard]] int16_t operator()(int32_t sum) const {
    return wide_code(requantizer(sum), low, high);
  }
  /// Converts kRequantizeBlock sums in place.
  void run_block(int32_t* sums, int16_t* y) const {
    requantizer.run_block(sums);
    for (int64_t i = 0; i < kRequantizeBlock; ++i) y[i] = wide_code(sums[i], low, high);
  }
};

/// Returns the requantizer of a qconv2d16 or qlinear16.
WideChannelRequantizer wide_requantizer(const Call& call, size_t channel) {
  const auto entry = [&](size_t operand) {
    const auto values = call.input<int32_t>(operand);
    return values[values.size() == 1 ? 0 : channel];
  };
  return {attribute(call, ir::attr::min), attribute(call, ir::attr::max),
          WideRequantizer(call.has(2) ? call.input<int64_t>(2)[channel] : 0, entry(3), entry(4))};
}

/// Converts the sums of one output channel to codes in a row.
template <typename ToCode, typename Code>
void requantize_row(const ToCode& to_code, std::span<int32_t> sums, Code* y) {
  const auto count = static_cast<int64_t>(sums.size());
  int64_t i = 0;
  for (; i + kRequantizeBlock <= count; i += kRequantizeBlock) {
    to_code.run_block(sums.data() + i, y + i);
  }
  for (; i < count; ++i) y[i] = to_code(sums[static_cast<size_t>(i)]);
}

/// Converts accumulators [N,O,h,w] to quantized values; requantizer_of(call, channel) returns
/// the function that converts the accumulators of one channel.
template <typename Code, typename T, typename RequantizerOf>
void requantize_planes(const Call& call, const T* accumulators, RequantizerOf requantizer_of) {
  const ir::Shape& shape = call.output.shape;
  const int64_t plane = shape[2] * shape[3];
  Code* y = call.result<Code>().data();
  for (int64_t o = 0; o < shape[1]; ++o) {
    const auto to_code = requantizer_of(call, static_cast<size_t>(o));
    for (int64_t n = 0; n < shape[0]; ++n) {
      const int64_t first = (n * shape[1] + o) * plane;
      for (int64_t i = first; i < first + plane; ++i) y[i] = to_code(accumulators[i]);
    }
  }
}

/// `sum` computes the accumulators from operand and weights as T. It may use scratch slots 0 and 1.
template <typename T, typename Code, typename RequantizerOf, typename Sum>
void weighted_planes(const Call& call, Scratch& scratch, int32_t zero_point,
                     RequantizerOf requantizer_of, Sum sum) {
  const size_t weights = call.input<int8_t>(1).size();
  T* w = scratch.get<T>(2, weights + call.result<Code>().size());
  T* accumulators = w + weights;
  for (size_t i = 0; i < weights; ++i) w[i] = static_cast<T>(call.input<int8_t>(1)[i]);
  const T* x = shifted<T>(call.input<Code>(0), zero_point, scratch, 3);
  sum(x, w, accumulators);
  requantize_planes<Code>(call, accumulators, requantizer_of);
}

/// Sums in int32, or in double if they may be larger.
template <typename Code, typename RequantizerOf>
void convolution(const Call& call, Scratch& scratch, int32_t zero_point, int64_t magnitude,
                 RequantizerOf requantizer_of) {
  const Convolution c = convolution_of(call);
  if (!sums_fit_int32(call.input<int8_t>(1), c.out_channels, magnitude)) {
    return weighted_planes<double, Code>(
        call, scratch, zero_point, requantizer_of,
        [&](const double* x, const double* w, double* accumulators) {
          convolve<double>(c, x, w, nullptr, accumulators, scratch);
        });
  }
  Code* const y = call.result<Code>().data();
  convolve_codes(c, call.input<Code>(0).data(), zero_point, call.input<int8_t>(1).data(), scratch,
                 [&](int64_t image, int64_t channel, int64_t first, std::span<int32_t> sums) {
                   const int64_t plane = image * c.out_channels + channel;
                   requantize_row(requantizer_of(call, static_cast<size_t>(channel)), sums,
                                  y + plane * c.out_h * c.out_w + first);
                 });
}

template <typename T>
void transposed(const Call& call, Scratch& scratch) {
  weighted_planes<T, int8_t>(call, scratch, attribute(call, ir::attr::x_zp), requantizer,
                             [&](const T* x, const T* w, T* accumulators) {
                               convolve_transposed<T>(call, x, w, nullptr, accumulators, scratch);
                             });
}

/// Sums in double. Converts the weights of a few outputs at a time: a copy of all of them would be
/// the largest object of a compilation.
template <typename Code, typename RequantizerOf>
void large_linear(const Call& call, Scratch& scratch, int32_t zero_point,
                  RequantizerOf requantizer_of) {
  const int64_t out = call.shape(1)[0];
  const int64_t in = call.shape(1)[1];
  const int64_t rows = static_cast<int64_t>(call.input<Code>(0).size()) / in;
  const double* x = shifted<double>(call.input<Code>(0), zero_point, scratch, 3);
  constexpr int64_t kBlockElements = int64_t{1} << 20;
  const int64_t block = std::clamp<int64_t>(kBlockElements / in, 1, out);
  Code* y = call.result<Code>().data();
  for (int64_t first = 0; first < out; first += block) {
    const int64_t count = std::min(block, out - first);
    const auto codes = call.input<int8_t>(1).subspan(static_cast<size_t>(first * in),
                                                     static_cast<size_t>(count * in));
    const double* w = shifted<double>(codes, 0, scratch, 2);
    double* accumulators = scratch.get<double>(0, static_cast<size_t>(rows * count));
    multiply_transposed(x, w, accumulators, rows, in, count);
    for (int64_t o = 0; o < count; ++o) {
      const auto to_code = requantizer_of(call, static_cast<size_t>(first + o));
      for (int64_t i = 0; i < rows; ++i)
        y[i * out + first + o] = to_code(accumulators[i * count + o]);
    }
  }
}

/// Sums in int32, or in double if they may be larger.
template <typename Code, typename RequantizerOf>
void linear(const Call& call, Scratch& scratch, int32_t zero_point, int64_t magnitude,
            RequantizerOf requantizer_of) {
  const int64_t out = call.shape(1)[0];
  const int64_t in = call.shape(1)[1];
  const int64_t rows = static_cast<int64_t>(call.input<Code>(0).size()) / in;
  if (!sums_fit_int32(call.input<int8_t>(1), out, magnitude)) {
    return large_linear<Code>(call, scratch, zero_point, requantizer_of);
  }
  Code* const codes = scratch.get<Code>(3, static_cast<size_t>(rows));
  Code* const y = call.result<Code>().data();
  multiply_codes(call.input<Code>(0).data(), zero_point, call.input<int8_t>(1).data(), rows, in,
                 out, scratch, [&](int64_t, int64_t channel, int64_t, std::span<int32_t> sums) {
                   requantize_row(requantizer_of(call, static_cast<size_t>(channel)), sums, codes);
                   for (int64_t i = 0; i < rows; ++i) y[i * out + channel] = codes[i];
                 });
}

constexpr int64_t kWideMagnitude = 32768;
/// Returns the largest |x - x_zp|.
int64_t magnitude_of(int32_t zero_point) {
  return std::max(127 - zero_point, zero_point + 128);
}

void run_qconv2d16(const Call& call, Scratch& scratch) {
  convolution<int16_t>(call, scratch, 0, kWideMagnitude, wide_requantizer);
}
void run_qlinear16(const Call& call, Scratch& scratch) {
  linear<int16_t>(call, scratch, 0, kWideMagnitude, wide_requantizer);
}

void run_lut16(const Call& call, Scratch&) {
  const int16_t* table = call.input<int16_t>(1).data();
  const auto x = call.input<int16_t>(0);
  int16_t* y = call.result<int16_t>().data();
  for (size_t i = 0; i < x.size(); ++i) y[i] = numerics::interpolate(table, x[i]);
}

/// Scales 16-bit codes as a qadd16 scales its operands.
class OperandScaler {
 public:
  OperandScaler(const Call& call, const ir::MultiplierKeys& keys, int32_t sign)
      : requantizer_(attribute(call, keys.mult), attribute(call, keys.shift), false), sign_(sign) {}

  [[nodiscard]] int32_t operator()(int16_t code) const {
    return sign_ * requantizer_(code * (1 << 15));
  }
  /// Adds kRequantizeBlock scaled codes to `sums`.
  void add_block(const int16_t* codes, int32_t* sums) const {
    int32_t scaled[kRequantizeBlock];
    for (int64_t i = 0; i < kRequantizeBlock; ++i) scaled[i] = codes[i] * (1 << 15);
    requantizer_.run_block(scaled);
    for (int64_t i = 0; i < kRequantizeBlock; ++i) {
      sums[i] = numerics::wrap_add(sums[i], sign_ * scaled[i]);
    }
  }

 private:
  Requantizer requantizer_;
  int32_t sign_;
};

void scaled_sum16(const Call& call, int32_t sign_of_b) {
  const OperandScaler scaled_a(call, ir::attr::a_multiplier, 1);
  const OperandScaler scaled_b(call, ir::attr::b_multiplier, sign_of_b);
  const WideSumRequantizer to_code{
      attribute(call, ir::attr::min), attribute(call, ir::attr::max),
      Requantizer(attribute(call, ir::attr::y_multiplier.mult),
                  attribute(call, ir::attr::y_multiplier.shift), false)};
  if (call.shape(0) != call.shape(1)) {
    return broadcast<int16_t>(call, [&](int16_t a, int16_t b) {
      return to_code(numerics::wrap_add(scaled_a(a), scaled_b(b)));
    });
  }
  const auto a = call.input<int16_t>(0);
  const auto b = call.input<int16_t>(1);
  int16_t* y = call.result<int16_t>().data();
  size_t i = 0;
  for (; i + kRequantizeBlock <= a.size(); i += kRequantizeBlock) {
    int32_t sums[kRequantizeBlock] = {};
    scaled_a.add_block(&a[i], sums);
    scaled_b.add_block(&b[i], sums);
    to_code.run_block(sums, y + i);
  }
  for (; i < a.size(); ++i) y[i] = to_code(numerics::wrap_add(scaled_a(a[i]), scaled_b(b[i])));
}
void run_qadd16(const Call& call, Scratch&) {
  scaled_sum16(call, 1);
}
void run_qsub16(const Call& call, Scratch&) {
  scaled_sum16(call, -1);
}
void run_qmul16(const Call& call, Scratch&) {
  const WideSumRequantizer to_code{
      attribute(call, ir::attr::min), attribute(call, ir::attr::max),
      Requantizer(attribute(call, ir::attr::mult), attribute(call, ir::attr::shift), false)};
  broadcast<int16_t>(call, [&](int16_t a, int16_t b) { return to_code(a * b); });
}

void run_qconv2d(const Call& call, Scratch& scratch) {
  if (eval::rounds_half_even(call)) return eval::eval_qconv2d(call);
  const int32_t x_zp = attribute(call, ir::attr::x_zp);
  convolution<int8_t>(call, scratch, x_zp, magnitude_of(x_zp), requantizer);
}
void run_qconv_transpose2d(const Call& call, Scratch& scratch) {
  transposed_fits_float(call) ? transposed<float>(call, scratch)
                              : transposed<double>(call, scratch);
}
void run_qlinear(const Call& call, Scratch& scratch) {
  if (eval::rounds_half_even(call)) return eval::eval_qlinear(call);
  const int32_t x_zp = attribute(call, ir::attr::x_zp);
  linear<int8_t>(call, scratch, x_zp, magnitude_of(x_zp), requantizer);
}

void scaled_sum(const Call& call, int32_t sign_of_b) {
  const bool single = call.get(ir::attr::rounding) != 0;
  // An operand has only 256 different values, so the scaled values are tabulated.
  const auto table = [&](ir::AttrKey<int64_t> zero_point_key, const ir::MultiplierKeys& keys,
                         int32_t sign) {
    const int32_t zero_point = attribute(call, zero_point_key);
    const int32_t mult = attribute(call, keys.mult);
    const int32_t shift = attribute(call, keys.shift);
    std::array<int32_t, 256> scaled{};
    for (int32_t code = -128; code < 128; ++code) {
      const int32_t raised = sign * (code - zero_point) * (1 << 20);
      scaled[static_cast<size_t>(code + 128)] = requantize(raised, mult, shift, single);
    }
    return scaled;
  };
  const auto scaled_a = table(ir::attr::a_zp, ir::attr::a_multiplier, 1);
  const auto scaled_b = table(ir::attr::b_zp, ir::attr::b_multiplier, sign_of_b);
  const int32_t y_zp = attribute(call, ir::attr::y_zp);
  const int32_t y_mult = attribute(call, ir::attr::y_mult);
  const int32_t y_shift = attribute(call, ir::attr::y_shift);
  const int32_t low = attribute(call, ir::attr::min);
  const int32_t high = attribute(call, ir::attr::max);
  broadcast<int8_t>(call, [&](int8_t a, int8_t b) {
    const int32_t sum = numerics::wrap_add(scaled_a[static_cast<size_t>(a + 128)],
                                           scaled_b[static_cast<size_t>(b + 128)]);
    const int32_t y = numerics::wrap_add(requantize(sum, y_mult, y_shift, single), y_zp);
    return static_cast<int8_t>(numerics::clamp(y, low, high));
  });
}

void run_qadd(const Call& call, Scratch&) {
  if (eval::rounds_half_even(call)) return eval::eval_qadd(call);
  scaled_sum(call, 1);
}
void run_qsub(const Call& call, Scratch&) {
  scaled_sum(call, -1);
}

void run_qmul(const Call& call, Scratch&) {
  if (eval::rounds_half_even(call)) return eval::eval_qmul(call);
  const bool single = call.get(ir::attr::rounding) != 0;
  const int32_t a_zp = attribute(call, ir::attr::a_zp);
  const int32_t b_zp = attribute(call, ir::attr::b_zp);
  const int32_t y_zp = attribute(call, ir::attr::y_zp);
  const int32_t mult = attribute(call, ir::attr::mult);
  const int32_t shift = attribute(call, ir::attr::shift);
  const int32_t low = attribute(call, ir::attr::min);
  const int32_t high = attribute(call, ir::attr::max);
  broadcast<int8_t>(call, [=](int8_t a, int8_t b) {
    const int32_t product = requantize((a - a_zp) * (b - b_zp), mult, shift, single);
    return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(product, y_zp), low, high));
  });
}

/// Other types and roundings than those of compiled graphs are handled by the evaluator.
void run_qmatmul(const Call& call, Scratch& scratch) {
  const int64_t rounding = call.get(ir::attr::rounding);
  const bool known = call.output.dtype == ir::DType::kI8 && (rounding == 0 || rounding == 1);
  const int32_t* sums = known ? qmatmul_sums(call, scratch) : nullptr;
  if (sums == nullptr) return eval::eval_qmatmul(call);
  const ChannelRequantizer to_code{0, attribute(call, ir::attr::y_zp),
                                   attribute(call, ir::attr::min), attribute(call, ir::attr::max),
                                   Requantizer(attribute(call, ir::attr::mult),
                                               attribute(call, ir::attr::shift), rounding == 1)};
  const auto y = call.result<int8_t>();
  for (size_t i = 0; i < y.size(); ++i) y[i] = to_code(sums[i]);
}

void run_lut(const Call& call, Scratch&) {
  const int8_t* table = call.input<int8_t>(1).data() + 128;
  const auto x = call.input<int8_t>(0);
  int8_t* y = call.result<int8_t>().data();
  for (size_t i = 0; i < x.size(); ++i) y[i] = table[x[i]];
}

template <typename From, typename To>
void rescale(const Call& call) {
  const int32_t x_zp = attribute(call, ir::attr::x_zp);
  const int32_t y_zp = attribute(call, ir::attr::y_zp);
  const int32_t mult = attribute(call, ir::attr::mult);
  const int32_t shift = attribute(call, ir::attr::shift);
  const auto to_type = [=](int32_t scaled) {
    return static_cast<To>(numerics::clamp(numerics::wrap_add(scaled, y_zp),
                                           std::numeric_limits<To>::min(),
                                           std::numeric_limits<To>::max()));
  };
  const auto scaled = [=](int32_t code) {
    return to_type(numerics::requantize(code - x_zp, mult, shift));
  };
  const auto x = call.input<From>(0);
  To* y = call.result<To>().data();
  if constexpr (sizeof(From) == 1) {
    std::array<To, 256> table{};
    for (int32_t code = -128; code < 128; ++code) {
      table[static_cast<size_t>(code + 128)] = scaled(code);
    }
    for (size_t i = 0; i < x.size(); ++i) y[i] = table[static_cast<size_t>(x[i] + 128)];
  } else {
    const Requantizer requantizer(mult, shift, false);
    size_t i = 0;
    for (; i + kRequantizeBlock <= x.size(); i += kRequantizeBlock) {
      int32_t block[kRequantizeBlock];
      for (int64_t k = 0; k < kRequantizeBlock; ++k)
        block[k] = x[i + static_cast<size_t>(k)] - x_zp;
      requantizer.run_block(block);
      for (int64_t k = 0; k < kRequantizeBlock; ++k) {
        y[i + static_cast<size_t>(k)] = to_type(block[k]);
      }
    }
    for (; i < x.size(); ++i) y[i] = scaled(x[i]);
  }
}
void run_rescale(const Call& call, Scratch&) {
  const bool from_wide = call.inputs[0]->dtype == ir::DType::kI16;
  const bool to_wide = call.output.dtype == ir::DType::kI16;
  if (from_wide) return to_wide ? rescale<int16_t, int16_t>(call) : rescale<int16_t, int8_t>(call);
  to_wide ? rescale<int8_t, int16_t>(call) : rescale<int8_t, int8_t>(call);
}

/// Types and bounds that compiled graphs do not use are handled by the evaluator.
void run_quantize(const Call& call, Scratch&) {
  const auto has_bounds = [&](int64_t low, int64_t high) {
    return call.get(ir::attr::min) == low && call.get(ir::attr::max) == high;
  };
  const float inverse = 1.0F / static_cast<float>(call.op.get(ir::attr::scale));
  const int32_t zero_point = attribute(call, ir::attr::zero_point);
  const auto x = call.input<float>(0);
  if (call.output.dtype == ir::DType::kI8 && has_bounds(INT8_MIN, INT8_MAX)) {
    int8_t* y = call.result<int8_t>().data();
    for (size_t i = 0; i < x.size(); ++i) y[i] = numerics::quantize_i8(x[i], inverse, zero_point);
  } else if (call.output.dtype == ir::DType::kI16 && zero_point == 0 &&
             has_bounds(INT16_MIN, INT16_MAX)) {
    int16_t* y = call.result<int16_t>().data();
    for (size_t i = 0; i < x.size(); ++i) y[i] = numerics::quantize_i16(x[i], inverse);
  } else {
    eval::eval_quantize(call);
  }
}

void run_dequantize(const Call& call, Scratch&) {
  if (call.inputs[0]->dtype != ir::DType::kI8) return eval::eval_dequantize(call);
  const float scale = static_cast<float>(call.op.get(ir::attr::scale));
  const int32_t zero_point = attribute(call, ir::attr::zero_point);
  const auto x = call.input<int8_t>(0);
  float* y = call.result<float>().data();
  for (size_t i = 0; i < x.size(); ++i) y[i] = numerics::dequantize_i8(x[i], scale, zero_point);
}

}  // namespace

const KernelTable& integer_kernels() {
  fix_block_sizes();
  static const KernelTable kTable = with_shared_kernels({
      {ir::OpKind::dequantize, run_dequantize},
      {ir::OpKind::lut, run_lut},
      {ir::OpKind::lut16, run_lut16},
      {ir::OpKind::qadd, run_qadd},
      {ir::OpKind::qadd16, run_qadd16},
      {ir::OpKind::qconv2d, run_qconv2d},
      {ir::OpKind::qconv2d16, run_qconv2d16},
      {ir::OpKind::qconv_transpose2d, run_qconv_transpose2d},
      {ir::OpKind::qlinear, run_qlinear},
      {ir::OpKind::qlinear16, run_qlinear16},
      {ir::OpKind::qmatmul, run_qmatmul},
      {ir::OpKind::qmul, run_qmul},
      {ir::OpKind::qmul16, run_qmul16},
      {ir::OpKind::qsub, run_qsub},
      {ir::OpKind::qsub16, run_qsub16},
      {ir::OpKind::quantize, run_quantize},
      {ir::OpKind::rescale, run_rescale},
  });
  return kTable;
}

Result<std::vector<ir::Tensor>> simulate(const ir::Graph& graph,
                                         std::span<const ir::Tensor> inputs) {
  THIMBLE_CHECK(eval::check_inputs(graph, inputs));
  FastExecutor engine(graph, integer_kernels());
  engine.run(inputs, {});
  return engine.outputs();
}

}  // namespace thimble::quant
