// Integer arithmetic with 16-bit activations (docs/numerics.md, "16-bit activations").

#include <algorithm>

#include "eval/call.h"
#include "eval/convolve.h"

namespace thimble::eval {
namespace {

template <typename F>
void binary16(const Call& call, F f) {
  const auto a = call.input<int16_t>(0);
  const auto b = call.input<int16_t>(1);
  const ir::Shape& shape = call.output.shape;
  for_each<2>(
      shape, {broadcast_strides(call.shape(0), shape), broadcast_strides(call.shape(1), shape)},
      [&](size_t i, const std::array<int64_t, 2>& at) {
        call.result<int16_t>()[i] = to_code16(call, f(int64_t{a[static_cast<size_t>(at[0])]},
                                                      int64_t{b[static_cast<size_t>(at[1])]}));
      });
}

void scaled_sum16(const Call& call, int64_t sign_of_b) {
  const auto scaled = [&](std::string_view side, int64_t value) {
    const std::string name(side);
    return requantize(value, call.integer(name + "_mult"), call.integer(name + "_shift"),
                      Rounding::kDouble);
  };
  binary16(call, [&](int64_t a, int64_t b) {
    const int64_t sum = scaled("a", a * pow2(15)) + sign_of_b * scaled("b", b * pow2(15));
    return scaled("y", wrap32(sum));
  });
}

/// Returns the entry for output channel o of an operand with one entry or one entry per channel.
int64_t entry(const Call& call, size_t operand, int64_t o) {
  const auto values = call.input<int32_t>(operand);
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(o)];
}

auto requantizing16(const Call& call) {
  return [&call](int64_t o, size_t index, int64_t sum) {
    call.result<int16_t>()[index] =
        to_code16(call, requantize64(sum, entry(call, 3, o), entry(call, 4, o)));
  };
}

template <typename T>
void softmax16(const Call& call) {
  const size_t dim = static_cast<size_t>(call.integer("dim"));
  const size_t length = static_cast<size_t>(call.shape(0)[dim]);
  const auto x = call.input<T>(0);
  for_each_row(call.shape(0), dim, [&](size_t first, size_t step) {
    int64_t maximum = INT64_MIN;
    for (size_t i = 0; i < length; ++i) {
      maximum = std::max<int64_t>(maximum, x[first + i * step]);
    }
    const auto difference = [&](size_t i) { return x[first + i * step] - maximum; };
    const auto exponential = [&](int64_t d) {
      return exp_on_negative(multiply_q31(d * pow2(call.integer("shift")), call.integer("mult")));
    };
    int64_t sum = 0;
    for (size_t i = 0; i < length; ++i) {
      if (difference(i) < call.integer("diff_min")) continue;
      sum += divide_half_away(exponential(difference(i)), pow2(12));
    }
    sum = std::min(sum, pow2(31));
    const int64_t headroom = headroom32(sum);
    const int64_t scale = one_over_one_plus(sum * pow2(headroom) - pow2(31));
    for (size_t i = 0; i < length; ++i) {
      int64_t y = 0;
      if (difference(i) >= call.integer("diff_min")) {
        y = divide_half_away(multiply_q31(scale, exponential(difference(i))), pow2(28 - headroom));
      }
      call.result<int16_t>()[first + i * step] = static_cast<int16_t>(clamp(y, 0, 32767));
    }
  });
}

template <typename From, typename To>
void rescale(const Call& call, int64_t lowest, int64_t highest) {
  const auto x = call.input<From>(0);
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t scaled = requantize(x[i] - call.integer("x_zp"), call.integer("mult"),
                                      call.integer("shift"), Rounding::kDouble);
    call.result<To>()[i] =
        static_cast<To>(clamp(wrap32(scaled + call.integer("y_zp")), lowest, highest));
  }
}

template <typename From>
void rescale_from(const Call& call) {
  if (call.integer("wide") != 0) return rescale<From, int16_t>(call, -32768, 32767);
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
  binary16(call, [&](int64_t a, int64_t b) {
    return requantize(a * b, call.integer("mult"), call.integer("shift"), Rounding::kDouble);
  });
}

void eval_qprelu16(const Call& call) {
  binary16(call, [&](int64_t x, int64_t w) {
    if (x >= 0) {
      return requantize(x, call.integer("mult"), call.integer("shift"), Rounding::kDouble);
    }
    return requantize(x * w, call.integer("w_mult"), call.integer("w_shift"), Rounding::kDouble);
  });
}

void eval_qconv2d16(const Call& call) {
  convolve<int64_t, int16_t, int8_t, int64_t>(call, int64_t{0}, requantizing16(call));
}
void eval_qlinear16(const Call& call) {
  multiply<int64_t, int16_t, int8_t, int64_t>(call, int64_t{0}, requantizing16(call));
}

void eval_qmean16(const Call& call) {
  const ir::Shape& from = call.shape(0);
  // The result shape with reduced dimensions kept as 1, so that their stride is 0.
  ir::Shape kept = from;
  for (const int64_t dim : call.op.integers("dims")) kept[static_cast<size_t>(dim)] = 1;
  std::vector<int64_t> sums(call.result<int16_t>().size(), 0);
  const auto x = call.input<int16_t>(0);
  for_each<1>(from, {broadcast_strides(kept, from)},
              [&](size_t i, const std::array<int64_t, 1>& at) {
                sums[static_cast<size_t>(at[0])] += x[i];
              });
  for (size_t i = 0; i < sums.size(); ++i) {
    call.result<int16_t>()[i] =
        to_code16(call, requantize64(sums[i], call.integer("mult"), call.integer("shift")));
  }
}

void eval_qsoftmax16(const Call& call) {
  is_wide(call) ? softmax16<int16_t>(call) : softmax16<int8_t>(call);
}

void eval_rescale(const Call& call) {
  is_wide(call) ? rescale_from<int16_t>(call) : rescale_from<int8_t>(call);
}

}  // namespace thimble::eval
