// SPDX-License-Identifier: Apache-2.0
// Reductions. Each result is computed from the list of its elements.

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Returns the index of the first maximum (or minimum). A NaN wins against all numbers, as in
/// PyTorch.
template <typename T>
size_t greatest(const std::vector<T>& elements, bool smallest) {
  size_t best = 0;
  for (size_t i = 1; i < elements.size(); ++i) {
    const T held = elements[best], value = elements[i];
    if (held != held) break;
    if (value != value || (smallest ? value < held : value > held)) best = i;
  }
  return best;
}

void extreme(const Call& call, bool smallest) {
  dispatch_dtype(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_reduced<T>(call, [&](size_t index, const std::vector<T>& elements) {
      call.result<T>()[index] = elements[greatest(elements, smallest)];
    });
  });
}

/// Returns log2(count), rounded up.
int64_t bits_for(int64_t count) {
  int64_t bits = 0;
  while (pow2(bits) < count) ++bits;
  return bits;
}

}  // namespace

void eval_amax(const Call& call) {
  extreme(call, /*smallest=*/false);
}
void eval_amin(const Call& call) {
  extreme(call, /*smallest=*/true);
}

void eval_argmax(const Call& call) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  dispatch_dtype(call.inputs[0]->dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.input<T>(0);
    size_t index = 0;
    std::vector<T> row(static_cast<size_t>(call.shape(0)[dim]));
    for_each_row(call.shape(0), dim, [&](size_t first, size_t step) {
      for (size_t i = 0; i < row.size(); ++i) row[i] = x[first + i * step];
      const size_t position = greatest(row, call.get(ir::attr::smallest) != 0);
      call.result<int64_t>()[index++] = static_cast<int64_t>(position);
    });
  });
}

void eval_sum(const Call& call) {
  for_each_reduced<float>(call, [&](size_t index, const std::vector<float>& elements) {
    double sum = 0;
    for (const float value : elements) sum += static_cast<double>(value);
    call.result<float>()[index] = static_cast<float>(sum);
  });
}

void eval_variance(const Call& call) {
  const double correction = call.op.get(ir::attr::correction);
  for_each_reduced<float>(call, [&](size_t index, const std::vector<float>& elements) {
    const double count = static_cast<double>(elements.size());
    double sum = 0, squares = 0;
    for (const float value : elements) sum += static_cast<double>(value);
    for (const float value : elements) {
      const double difference = static_cast<double>(value) - sum / count;
      squares += difference * difference;
    }
    call.result<float>()[index] = static_cast<float>(squares / (count - correction));
  });
}

void eval_qvariance(const Call& call) {
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const auto store = clamped_store(call);
  for_each_reduced<int8_t>(call, [&](size_t index, const std::vector<int8_t>& elements) {
    const int64_t count = static_cast<int64_t>(elements.size());
    int64_t sum = 0, squares = 0;
    for (const int64_t q : elements) {
      sum += q;
      squares += q * q;
    }
    const int64_t p = std::max<int64_t>(0, 2 * bits_for(count) - 16);
    const int64_t v = floor_divide(count * squares - sum * sum, pow2(p));
    const int64_t scaled = floor_divide(v * mult + pow2(30 - shift), pow2(31 - shift));
    store(index, scaled + y_zp);
  });
}

void eval_cumsum(const Call& call) {
  map_rows<float>(call, [](std::vector<float>& row) {
    double sum = 0;
    for (float& value : row) {
      sum += static_cast<double>(value);
      value = static_cast<float>(sum);
    }
  });
}

void eval_qcumsum(const Call& call) {
  const Rounding rounding = rounding_of(call);
  const int64_t x_zp = call.get(ir::attr::x_zp);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const int64_t low = call.get(ir::attr::min);
  const int64_t high = call.get(ir::attr::max);
  map_rows<int8_t>(call, [=](std::vector<int8_t>& row) {
    int64_t sum = 0;
    for (int8_t& code : row) {
      sum += code - x_zp;
      const int64_t y = requantize(sum, mult, shift, rounding);
      code = static_cast<int8_t>(clamp(wrap32(y + y_zp), low, high));
    }
  });
}

}  // namespace thimble::eval
