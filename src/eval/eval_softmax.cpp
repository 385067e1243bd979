// SPDX-License-Identifier: Apache-2.0
// Softmax and log-softmax, float and integer, along one dimension.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "eval/call.h"

namespace thimble::eval {
namespace {

double sum_of_exp(const std::vector<float>& row, double maximum) {
  double sum = 0;
  for (const float value : row) sum += std::exp(static_cast<double>(value) - maximum);
  return sum;
}

double maximum_of(const std::vector<float>& row) {
  return static_cast<double>(*std::max_element(row.begin(), row.end()));
}

}  // namespace

void eval_softmax(const Call& call) {
  map_rows<float>(call, [](std::vector<float>& row) {
    const double maximum = maximum_of(row);
    const double sum = sum_of_exp(row, maximum);
    for (float& value : row) {
      value = static_cast<float>(std::exp(static_cast<double>(value) - maximum) / sum);
    }
  });
}

void eval_log_softmax(const Call& call) {
  map_rows<float>(call, [](std::vector<float>& row) {
    const double maximum = maximum_of(row);
    const double log_sum = std::log(sum_of_exp(row, maximum));
    for (float& value : row) {
      value = static_cast<float>(static_cast<double>(value) - maximum - log_sum);
    }
  });
}

namespace {

/// Softmax of quantized values; the result has type Code, scale 2^-bits and zero point `zero`.
/// Values below `lowest` are masked: they do not contribute to the sum and become `zero`. If all
/// values of a row are masked (only -128 in int8), they stay -128.
template <typename Code, typename From = Code>
void softmax_of_codes(const Call& call, int64_t lowest, int64_t zero, int64_t bits) {
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const int64_t diff_min = call.get(ir::attr::diff_min);
  // Depends on the difference to the row's maximum only, and is computed once for each difference.
  std::vector<std::optional<int64_t>> exponentials(size_t{1} << (8 * sizeof(From)));
  map_rows<Code, From>(call, [&, mult, shift, diff_min](std::vector<Code>& row) {
    const int64_t maximum = *std::max_element(row.begin(), row.end());
    if (maximum < lowest) return;
    const auto contributes = [&](int64_t code) {
      return code >= lowest && code - maximum >= diff_min;
    };
    const auto exponential = [&](int64_t code) {
      auto& known = exponentials[static_cast<size_t>(maximum - code)];
      if (!known) known = exp_on_negative(multiply_q31((code - maximum) * pow2(shift), mult));
      return *known;
    };
    int64_t sum = 0;
    for (const Code code : row) {
      if (contributes(code)) sum += divide_half_away(exponential(code), pow2(12));
    }
    sum = std::min(sum, pow2(31));
    const int64_t headroom = headroom32(sum);
    const int64_t scale = one_over_one_plus(sum * pow2(headroom) - pow2(31));
    for (Code& code : row) {
      int64_t y = zero;
      if (contributes(code)) {
        y += divide_half_away(multiply_q31(scale, exponential(code)), pow2(43 - bits - headroom));
      }
      code = static_cast<Code>(clamp(y, zero, std::numeric_limits<Code>::max()));
    }
  });
}

}  // namespace

void eval_qsoftmax(const Call& call) {
  softmax_of_codes<int8_t>(call, -128, -128, 8);
}
void eval_qmasked_softmax(const Call& call) {
  softmax_of_codes<int8_t>(call, -127, -128, 8);
}
void eval_qsoftmax16(const Call& call) {
  is_wide(call) ? softmax_of_codes<int16_t>(call, -32768, 0, 15)
                : softmax_of_codes<int16_t, int8_t>(call, -128, 0, 15);
}

void eval_qlog_softmax(const Call& call) {
  const auto exp_table = call.input<int32_t>(1);
  map_rows<int8_t>(call, [&](std::vector<int8_t>& row) {
    const int64_t maximum = *std::max_element(row.begin(), row.end());
    int64_t sum = 0;
    for (const int8_t code : row) sum += exp_table[static_cast<size_t>(maximum - code)];
    const int64_t log2_of_sum = log2_q16(sum) - 20 * pow2(16);
    const int64_t log = requantize(log2_of_sum, call.get(ir::attr::log_mult),
                                   call.get(ir::attr::log_shift), Rounding::kDouble);
    for (int8_t& code : row) {
      const int64_t x = requantize(code - maximum, call.get(ir::attr::scale_mult),
                                   call.get(ir::attr::scale_shift), Rounding::kDouble);
      code = static_cast<int8_t>(clamp(wrap32(x - log + call.get(ir::attr::y_zp)), -128, 127));
    }
  });
}

}  // namespace thimble::eval
