// SPDX-License-Identifier: Apache-2.0
// Convolution and linear, float and integer.

#include "eval/convolve.h"

namespace thimble::eval {
namespace {

/// y = clamp(requantize(acc, mult[o], shift[o]) + y_zp, min, max).
auto requantizing(const Call& call) {
  const Rounding rounding = rounding_of(call);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  return [=, &call, store = clamped_store(call)](int64_t o, size_t index, int64_t sum) {
    const int64_t scaled =
        requantize(wrap32(sum), channel_entry(call, 3, o), channel_entry(call, 4, o), rounding);
    store(index, wrap32(scaled + y_zp));
  };
}

/// y = clamp(requantize_even(acc, mult[o], shift[o], y_zp), min, max). For a leaky activation, the
/// sign of acc selects the multiplier.
auto requantizing_even(const Call& call) {
  const auto mult = call.input<int32_t>(3);
  const auto shift = call.input<int32_t>(4);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const bool leaky = call.get(ir::attr::leaky) != 0;
  return [=, store = clamped_store(call)](int64_t o, size_t index, int64_t sum) {
    const int64_t acc = wrap32(sum);
    const size_t channel = shift.size() == 1 ? 0 : static_cast<size_t>(o);
    const size_t entry = leaky ? 2 * channel + (acc < 0 ? 0 : 1) : channel;
    store(index, requantize_even(acc, mult[entry], shift[channel], y_zp));
  };
}

auto storing(const Call& call) {
  return [&call](int64_t, size_t index, double sum) {
    call.result<float>()[index] = static_cast<float>(sum);
  };
}

}  // namespace

void eval_conv2d(const Call& call) {
  convolve<double, float, float, float>(call, 0.0, storing(call));
}
void eval_linear(const Call& call) {
  multiply<double, float, float, float>(call, 0.0, storing(call));
}

void eval_qconv2d(const Call& call) {
  const int64_t x_zp = call.get(ir::attr::x_zp);
  if (rounds_half_even(call)) {
    return convolve<int64_t, int8_t, int8_t, int32_t>(call, x_zp, requantizing_even(call));
  }
  convolve<int64_t, int8_t, int8_t, int32_t>(call, x_zp, requantizing(call));
}
void eval_qlinear(const Call& call) {
  const int64_t x_zp = call.get(ir::attr::x_zp);
  if (rounds_half_even(call)) {
    return multiply<int64_t, int8_t, int8_t, int32_t>(call, x_zp, requantizing_even(call));
  }
  multiply<int64_t, int8_t, int8_t, int32_t>(call, x_zp, requantizing(call));
}

}  // namespace thimble::eval
