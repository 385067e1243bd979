// SPDX-License-Identifier: Apache-2.0
// Pools, adaptive pools and means. Padding positions are never counted.

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Calls visit(index in the result, elements inside the window).
template <typename T, typename Visit>
void for_each_window(const Call& call, Visit visit) {
  const ir::Shape& in = call.shape(0);
  const ir::Shape& out = call.output.shape;
  const auto& kernel = call.op.get(ir::attr::kernel);
  const auto& stride = call.op.get(ir::attr::stride);
  const auto& padding = call.op.get(ir::attr::padding);
  const bool dilated = ir::has_attr(call.op.kind, ir::attr::dilation);
  const auto dilation = dilated ? call.op.get(ir::attr::dilation) : std::vector<int64_t>{1, 1};
  std::vector<T> elements;
  size_t index = 0;
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
    const T* x = call.input<T>(0).data() + plane * in[2] * in[3];
    for (int64_t out_y = 0; out_y < out[2]; ++out_y) {
      for (int64_t out_x = 0; out_x < out[3]; ++out_x) {
        elements.clear();
        for (int64_t ky = 0; ky < kernel[0]; ++ky) {
          const int64_t in_y = out_y * stride[0] - padding[0] + ky * dilation[0];
          if (in_y < 0 || in_y >= in[2]) continue;
          for (int64_t kx = 0; kx < kernel[1]; ++kx) {
            const int64_t in_x = out_x * stride[1] - padding[1] + kx * dilation[1];
            if (in_x < 0 || in_x >= in[3]) continue;
            elements.push_back(x[in_y * in[3] + in_x]);
          }
        }
        visit(index++, elements);
      }
    }
  }
}

/// Calls visit(index in the result, elements of the window).
template <typename T, typename Visit>
void for_each_adaptive_window(const Call& call, Visit visit) {
  const ir::Shape& in = call.shape(0);
  const ir::Shape& out = call.output.shape;
  const auto first = [&](int64_t i, size_t dim) { return i * in[dim] / out[dim]; };
  const auto last = [&](int64_t i, size_t dim) {
    return ((i + 1) * in[dim] + out[dim] - 1) / out[dim];
  };
  std::vector<T> elements;
  size_t index = 0;
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
    const T* x = call.input<T>(0).data() + plane * in[2] * in[3];
    for (int64_t y = 0; y < out[2]; ++y) {
      for (int64_t z = 0; z < out[3]; ++z) {
        elements.clear();
        for (int64_t row = first(y, 2); row < last(y, 2); ++row) {
          for (int64_t column = first(z, 3); column < last(z, 3); ++column) {
            elements.push_back(x[row * in[3] + column]);
          }
        }
        visit(index++, elements);
      }
    }
  }
}

template <typename T>
T maximum_in_window(const std::vector<T>& elements) {
  T best = elements[0];
  for (const T value : elements) {
    // NaN is the maximum, as in PyTorch. NaN is unequal to itself.
    if (value > best || value != value) best = value;
  }
  return best;
}

/// Returns the mean to nearest, halves away from zero.
template <typename T>
int64_t mean_in_window(const std::vector<T>& elements) {
  const int64_t n = static_cast<int64_t>(elements.size());
  int64_t sum = 0;
  for (const T value : elements) sum += value;
  return (sum + (sum >= 0 ? n / 2 : -(n / 2))) / n;
}

template <typename T>
void max_pool(const Call& call) {
  for_each_window<T>(call, [&](size_t index, const std::vector<T>& elements) {
    call.result<T>()[index] = maximum_in_window(elements);
  });
}

template <typename T>
void adaptive_mean(const Call& call) {
  const auto store = clamped_store(call);
  for_each_adaptive_window<T>(call, [&](size_t index, const std::vector<T>& elements) {
    store(index, mean_in_window(elements));
  });
}

/// Returns the stride in the result for each dimension of x: 0 for reduced dimensions.
OperandStrides reduced_steps(const Call& call) {
  ir::Shape kept = call.shape(0);
  for (const int64_t dim : call.op.get(ir::attr::dims)) kept[static_cast<size_t>(dim)] = 1;
  OperandStrides steps = ir::strides(kept, {});
  for (const int64_t dim : call.op.get(ir::attr::dims)) steps[static_cast<size_t>(dim)] = 0;
  return steps;
}

/// Returns for each element of the result the sum of x - zero_point.
template <typename Sum, typename T>
std::vector<Sum> reduced_sums(const Call& call, Sum zero_point) {
  const auto x = call.input<T>(0);
  std::vector<Sum> sums(static_cast<size_t>(ir::element_count(call.output.shape)), 0);
  for_each<1>(call.shape(0), {reduced_steps(call)},
              [&](size_t i, const std::array<int64_t, 1>& to) {
                sums[static_cast<size_t>(to[0])] += static_cast<Sum>(x[i]) - zero_point;
              });
  return sums;
}

}  // namespace

/// Sums in float32 in window order, as PyTorch does. Means of dequantized values are often halves,
/// and the last bit decides how a following `quantize` rounds them.
void eval_avg_pool2d(const Call& call) {
  for_each_window<float>(call, [&](size_t index, const std::vector<float>& elements) {
    float sum = 0;
    for (const float value : elements) sum += value;
    call.result<float>()[index] = sum / static_cast<float>(elements.size());
  });
}

void eval_adaptive_avg_pool2d(const Call& call) {
  for_each_adaptive_window<float>(call, [&](size_t index, const std::vector<float>& elements) {
    double sum = 0;
    for (const float value : elements) sum += static_cast<double>(value);
    call.result<float>()[index] = static_cast<float>(sum / static_cast<double>(elements.size()));
  });
}

void eval_adaptive_max_pool2d(const Call& call) {
  dispatch_dtype(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_adaptive_window<T>(call, [&](size_t index, const std::vector<T>& elements) {
      call.result<T>()[index] = maximum_in_window(elements);
    });
  });
}

void eval_qadaptive_avg_pool2d(const Call& call) {
  is_wide(call) ? adaptive_mean<int16_t>(call) : adaptive_mean<int8_t>(call);
}

void eval_max_pool2d(const Call& call) {
  dispatch_dtype(call.output.dtype, [&](auto zero) { max_pool<decltype(zero)>(call); });
}

void eval_max_pool2d16(const Call& call) {
  max_pool<int16_t>(call);
}

void eval_qavg_pool2d(const Call& call) {
  const bool even = rounds_half_even(call);
  const int64_t x_zp = call.get(ir::attr::x_zp);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const auto store = clamped_store(call);
  for_each_window<int8_t>(call, [&](size_t index, const std::vector<int8_t>& elements) {
    if (!even) return store(index, mean_in_window(elements));
    int64_t sum = 0;
    for (const int8_t value : elements) sum += value - x_zp;
    store(index, requantize_even(sum, mult, shift, y_zp));
  });
}

void eval_qavg_pool2d16(const Call& call) {
  const auto store = clamped_store(call);
  for_each_window<int16_t>(call, [&](size_t index, const std::vector<int16_t>& elements) {
    store(index, mean_in_window(elements));
  });
}

void eval_mean(const Call& call) {
  const std::vector<double> sums = reduced_sums<double, float>(call, 0);
  const size_t count = call.input<float>(0).size() / sums.size();
  for (size_t i = 0; i < sums.size(); ++i) {
    call.result<float>()[i] = static_cast<float>(sums[i] / static_cast<double>(count));
  }
}

void eval_qmean(const Call& call) {
  const Rounding rounding = rounding_of(call);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const auto store = clamped_store(call);
  const std::vector<int64_t> sums = reduced_sums<int64_t, int8_t>(call, call.get(ir::attr::x_zp));
  for (size_t i = 0; i < sums.size(); ++i) {
    store(i, rounding == Rounding::kEven
                 ? requantize_even(sums[i], mult, shift, y_zp)
                 : wrap32(requantize(sums[i], mult, shift, rounding) + y_zp));
  }
}

void eval_qmean16(const Call& call) {
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const auto store = clamped_store(call);
  const std::vector<int64_t> sums = reduced_sums<int64_t, int16_t>(call, 0);
  for (size_t i = 0; i < sums.size(); ++i) {
    store(i, requantize64(sums[i], mult, shift));
  }
}

}  // namespace thimble::eval
