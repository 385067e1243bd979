// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: functions of a float computed in double, comparisons and selects of any
// element type, and integer operators that select or divide.

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

template <typename F>
void map_floats(const Call& call, F function) {
  const auto x = call.input<float>(0);
  for (size_t i = 0; i < x.size(); ++i) {
    call.result<float>()[i] = static_cast<float>(function(static_cast<double>(x[i])));
  }
}

template <typename T>
bool is_nan(T value) {
  return value != value;
}

template <typename T>
bool holds(int64_t relation, T a, T b) {
  switch (relation) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
      return a < b;
    case 3:
      return a <= b;
    case 4:
      return a > b;
    default:
      return a >= b;
  }
}

}  // namespace

#define THIMBLE_FUNCTION(name, exact, stable)         \
  void eval_##name(const Call& call) {                \
    map_floats(call, [](double x) { return exact; }); \
  }
#include "ir/functions.def"
#undef THIMBLE_FUNCTION

void eval_pow(const Call& call) {
  const double exponent = call.op.get(ir::attr::exponent);
  map_floats(call, [=](double x) { return std::pow(x, exponent); });
}

void eval_div(const Call& call) {
  map_pairs<float>(call, [](float a, float b) { return a / b; });
}

void eval_prelu(const Call& call) {
  map_pairs<float>(call, [](float x, float w) { return x < 0 ? x * w : x; });
}

void eval_maximum(const Call& call) {
  dispatch_dtype(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    map_pairs<T>(call, [](T a, T b) { return is_nan(a) || a > b ? a : b; });
  });
}
void eval_minimum(const Call& call) {
  dispatch_dtype(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    map_pairs<T>(call, [](T a, T b) { return is_nan(a) || a < b ? a : b; });
  });
}

void eval_compare(const Call& call) {
  const int64_t relation = call.get(ir::attr::relation);
  dispatch_dtype(call.inputs[0]->dtype, [&](auto zero) {
    using T = decltype(zero);
    map_pairs<T, uint8_t>(call, [=](T a, T b) { return holds(relation, a, b); });
  });
}

void eval_logical_and(const Call& call) {
  map_pairs<uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 && b != 0; });
}
void eval_logical_or(const Call& call) {
  map_pairs<uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 || b != 0; });
}
void eval_logical_not(const Call& call) {
  const auto x = call.input<uint8_t>(0);
  for (size_t i = 0; i < x.size(); ++i) call.result<uint8_t>()[i] = x[i] == 0 ? 1 : 0;
}

void eval_where(const Call& call) {
  const ir::Shape& shape = call.output.shape;
  const auto condition = call.input<uint8_t>(0);
  dispatch_dtype(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto a = call.input<T>(1);
    const auto b = call.input<T>(2);
    for_each<3>(shape,
                {broadcast_strides(call.shape(0), shape), broadcast_strides(call.shape(1), shape),
                 broadcast_strides(call.shape(2), shape)},
                [&](size_t i, const std::array<int64_t, 3>& offset) {
                  const bool first = condition[static_cast<size_t>(offset[0])] != 0;
                  call.result<T>()[i] =
                      first ? a[static_cast<size_t>(offset[1])] : b[static_cast<size_t>(offset[2])];
                });
  });
}

void eval_qdiv(const Call& call) {
  const Rounding rounding = rounding_of(call);
  const int64_t a_zp = call.get(ir::attr::a_zp);
  const int64_t b_zp = call.get(ir::attr::b_zp);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  map_quantized_pairs<int8_t>(call, [=](int64_t a_code, int64_t b_code) {
    const int64_t a = a_code - a_zp;
    const int64_t b = b_code - b_zp;
    if (b == 0) return a > 0 ? int64_t{INT8_MAX} : a < 0 ? int64_t{INT8_MIN} : y_zp;
    // |a| * 2^20 / |b| to nearest, halves up. The sign follows, so halves round away from zero.
    const int64_t numerator = std::abs(a) * pow2(20);
    const int64_t divisor = std::abs(b);
    const int64_t magnitude = (2 * numerator + divisor) / (2 * divisor);
    const int64_t quotient = (a < 0) == (b < 0) ? magnitude : -magnitude;
    return requantize(quotient, mult, shift, rounding) + y_zp;
  });
}

void eval_qprelu(const Call& call) {
  const Rounding rounding = rounding_of(call);
  const int64_t x_zp = call.get(ir::attr::x_zp);
  const int64_t w_zp = call.get(ir::attr::w_zp);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const int64_t w_mult = call.get(ir::attr::w_mult);
  const int64_t w_shift = call.get(ir::attr::w_shift);
  map_quantized_pairs<int8_t>(call, [=](int64_t x, int64_t w) {
    const int64_t scaled = x >= x_zp
                               ? requantize(x - x_zp, mult, shift, rounding)
                               : requantize((x - x_zp) * (w - w_zp), w_mult, w_shift, rounding);
    return wrap32(scaled + y_zp);
  });
}

}  // namespace thimble::eval
