// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: float arithmetic and clamp; integer addition, subtraction,
// multiplication and lookup tables; quantize and dequantize.

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

template <typename From, typename To, typename F>
void unary(const Call& call, F f) {
  const auto x = call.input<From>(0);
  for (size_t i = 0; i < x.size(); ++i) call.result<To>()[i] = f(x[i]);
}

/// qadd and qsub: both operands are brought to a common scale with 20 bits to spare.
void scaled_sum(const Call& call, int64_t sign_of_b) {
  const Rounding rounding = rounding_of(call);
  const int64_t a_zp = call.get(ir::attr::a_zp);
  const int64_t a_mult = call.get(ir::attr::a_mult);
  const int64_t a_shift = call.get(ir::attr::a_shift);
  const int64_t b_zp = call.get(ir::attr::b_zp);
  const int64_t b_mult = call.get(ir::attr::b_mult);
  const int64_t b_shift = call.get(ir::attr::b_shift);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t y_mult = call.get(ir::attr::y_mult);
  const int64_t y_shift = call.get(ir::attr::y_shift);
  map_quantized_pairs<int8_t>(call, [=](int64_t a, int64_t b) {
    const int64_t scaled_a = requantize((a - a_zp) * pow2(20), a_mult, a_shift, rounding);
    const int64_t scaled_b =
        requantize(sign_of_b * (b - b_zp) * pow2(20), b_mult, b_shift, rounding);
    const int64_t sum = requantize(wrap32(scaled_a + scaled_b), y_mult, y_shift, rounding);
    return wrap32(sum + y_zp);
  });
}

}  // namespace

void eval_add(const Call& call) {
  map_pairs<float>(call, [](float a, float b) { return a + b; });
}
void eval_sub(const Call& call) {
  map_pairs<float>(call, [](float a, float b) { return a - b; });
}
void eval_mul(const Call& call) {
  map_pairs<float>(call, [](float a, float b) { return a * b; });
}

void eval_batch_norm(const Call& call) {
  const auto x = call.input<float>(0);
  const size_t channels = static_cast<size_t>(call.shape(0)[1]);
  const size_t plane = x.size() / static_cast<size_t>(call.shape(0)[0]) / channels;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i / plane % channels;
    const double scaled = static_cast<double>(x[i]) * static_cast<double>(call.input<float>(1)[c]);
    call.result<float>()[i] =
        static_cast<float>(scaled + static_cast<double>(call.input<float>(2)[c]));
  }
}

void eval_clamp(const Call& call) {
  const float low = static_cast<float>(call.op.get(ir::attr::float_min));
  const float high = static_cast<float>(call.op.get(ir::attr::float_max));
  unary<float, float>(call, [=](float x) {
    if (std::isnan(x)) return x;
    return std::min(std::max(x, low), high);
  });
}

void eval_lut(const Call& call) {
  const auto table = call.input<int8_t>(1);
  unary<int8_t, int8_t>(call, [=](int8_t x) { return table[static_cast<size_t>(x + 128)]; });
}

void eval_qadd(const Call& call) {
  if (rounds_half_even(call)) {
    const int64_t a_zp = call.get(ir::attr::a_zp);
    const int64_t a_mult = call.get(ir::attr::a_mult);
    const int64_t b_zp = call.get(ir::attr::b_zp);
    const int64_t b_mult = call.get(ir::attr::b_mult);
    const int64_t shift = call.get(ir::attr::y_shift);
    const int64_t y_zp = call.get(ir::attr::y_zp);
    return map_quantized_pairs<int8_t>(call, [=](int64_t a, int64_t b) {
      return requantize_even((a - a_zp) * a_mult + (b - b_zp) * b_mult, 1, shift, y_zp);
    });
  }
  scaled_sum(call, 1);
}
void eval_qsub(const Call& call) {
  scaled_sum(call, -1);
}

void eval_qmul(const Call& call) {
  const Rounding rounding = rounding_of(call);
  const int64_t a_zp = call.get(ir::attr::a_zp);
  const int64_t b_zp = call.get(ir::attr::b_zp);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  if (rounds_half_even(call)) {
    return map_quantized_pairs<int8_t>(call, [=](int64_t a, int64_t b) {
      return requantize_even((a - a_zp) * (b - b_zp), mult, shift, y_zp);
    });
  }
  map_quantized_pairs<int8_t>(call, [=](int64_t a, int64_t b) {
    return wrap32(requantize((a - a_zp) * (b - b_zp), mult, shift, rounding) + y_zp);
  });
}

}  // namespace thimble::eval
