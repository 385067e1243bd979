// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic with 16-bit activations (docs/numerics.md, "16-bit activations").

#include "eval/call.h"
#include "eval/convolve.h"

namespace thimble::eval {
namespace {

void scaled_sum16(const Call& call, int64_t sign_of_b) {
  const int64_t a_mult = call.get(ir::attr::a_mult), a_shift = call.get(ir::attr::a_shift);
  const int64_t b_mult = call.get(ir::attr::b_mult), b_shift = call.get(ir::attr::b_shift);
  const int64_t y_mult = call.get(ir::attr::y_mult), y_shift = call.get(ir::attr::y_shift);
  map_quantized_pairs<int16_t>(call, [=](int64_t a, int64_t b) {
    const int64_t sum = requantize(a * pow2(15), a_mult, a_shift, Rounding::kDouble) +
                        sign_of_b * requantize(b * pow2(15), b_mult, b_shift, Rounding::kDouble);
    return requantize(wrap32(sum), y_mult, y_shift, Rounding::kDouble);
  });
}

auto requantizing16(const Call& call) {
  return [&call, store = clamped_store(call)](int64_t o, size_t index, int64_t sum) {
    store(index, requantize64(sum, channel_entry(call, 3, o), channel_entry(call, 4, o)));
  };
}

template <typename From, typename To>
void rescale(const Call& call, int64_t lowest, int64_t highest) {
  const int64_t mult = call.get(ir::attr::mult), shift = call.get(ir::attr::shift);
  const int64_t x_zp = call.get(ir::attr::x_zp), y_zp = call.get(ir::attr::y_zp);
  const auto x = call.input<From>(0);
  const auto y = call.result<To>();
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t scaled = requantize(x[i] - x_zp, mult, shift, Rounding::kDouble);
    y[i] = static_cast<To>(clamp(wrap32(scaled + y_zp), lowest, highest));
  }
}

template <typename From>
void rescale_from(const Call& call) {
  if (call.get(ir::attr::wide) != 0) return rescale<From, int16_t>(call, -32768, 32767);
  rescale<From, int8_t>(call, -128, 127);
}

}  // namespace

void eval_lut16(const Call& call) {
  const auto x = call.input<int16_t>(0);
  const auto table = call.input<int16_t>(1);
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t segment = floor_divide(x[i], 128);
    const int64_t rest = x[i] - segment * 128;
    const size_t k = static_cast<size_t>(segment + 256);
    const int64_t rise = int64_t{table[k + 1]} - table[k];
    const int64_t y = table[k] + floor_divide(rise * rest + 64, 128);
    call.result<int16_t>()[i] = static_cast<int16_t>(clamp(y, -32768, 32767));
  }
}

void eval_qadd16(const Call& call) {
  scaled_sum16(call, 1);
}
void eval_qsub16(const Call& call) {
  scaled_sum16(call, -1);
}

void eval_qmul16(const Call& call) {
  const int64_t mult = call.get(ir::attr::mult), shift = call.get(ir::attr::shift);
  map_quantized_pairs<int16_t>(call, [=](int64_t a, int64_t b) {
    return requantize(a * b, mult, shift, Rounding::kDouble);
  });
}

void eval_qprelu16(const Call& call) {
  const int64_t mult = call.get(ir::attr::mult), shift = call.get(ir::attr::shift);
  const int64_t w_mult = call.get(ir::attr::w_mult), w_shift = call.get(ir::attr::w_shift);
  map_quantized_pairs<int16_t>(call, [=](int64_t x, int64_t w) {
    if (x >= 0) return requantize(x, mult, shift, Rounding::kDouble);
    return requantize(x * w, w_mult, w_shift, Rounding::kDouble);
  });
}

void eval_qconv2d16(const Call& call) {
  convolve<int64_t, int16_t, int8_t, int64_t>(call, int64_t{0}, requantizing16(call));
}
void eval_qlinear16(const Call& call) {
  multiply<int64_t, int16_t, int8_t, int64_t>(call, int64_t{0}, requantizing16(call));
}

void eval_rescale(const Call& call) {
  is_wide(call) ? rescale_from<int16_t>(call) : rescale_from<int8_t>(call);
}

}  // namespace thimble::eval
