// Pools and means. Padding positions are never counted.

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Calls visit(n, channel, y, x, elements inside the window) in result order.
template <typename T, typename Visit>
void for_each_window(const Call& call, Visit visit) {
  const ir::Shape& in = call.shape(0);
  const ir::Shape& out = call.output.shape;
  const auto kernel = call.op.integers("kernel");
  const auto stride = call.op.integers("stride");
  const auto padding = call.op.integers("padding");
  const bool dilated = ir::op_info(call.op.kind).attr("dilation") != nullptr;
  const auto dilation = dilated ? call.op.integers("dilation") : std::vector<int64_t>{1, 1};
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

template <typename T>
void max_pool(const Call& call) {
  for_each_window<T>(call, [&](size_t index, const std::vector<T>& elements) {
    T best = elements[0];
    for (const T value : elements) {
      // NaN is the maximum, as in PyTorch. NaN is unequal to itself.
      if (value > best || value != value) best = value;
    }
    call.result<T>()[index] = best;
  });
}

/// Returns the stride in the result for each dimension of x: 0 for reduced dimensions.
OperandStrides reduced_steps(const Call& call) {
  ir::Shape kept = call.shape(0);
  for (const int64_t dim : call.op.integers("dims")) kept[static_cast<size_t>(dim)] = 1;
  OperandStrides steps = ir::strides(kept, {});
  for (const int64_t dim : call.op.integers("dims")) steps[static_cast<size_t>(dim)] = 0;
  return steps;
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

void eval_max_pool2d(const Call& call) {
  switch (call.output.dtype) {
    case ir::DType::kF32:
      return max_pool<float>(call);
    case ir::DType::kI8:
      return max_pool<int8_t>(call);
    case ir::DType::kU8:
    case ir::DType::kBool:
      return max_pool<uint8_t>(call);
    case ir::DType::kI16:
      return max_pool<int16_t>(call);
    case ir::DType::kI32:
      return max_pool<int32_t>(call);
    case ir::DType::kI64:
      return max_pool<int64_t>(call);
  }
}

void eval_max_pool2d16(const Call& call) {
  max_pool<int16_t>(call);
}

void eval_qavg_pool2d(const Call& call) {
  const bool even = rounds_half_even(call);
  const int64_t x_zp = call.integer("x_zp");
  const int64_t y_zp = call.integer("y_zp");
  const int64_t mult = call.integer("mult");
  const int64_t shift = call.integer("shift");
  for_each_window<int8_t>(call, [&](size_t index, const std::vector<int8_t>& elements) {
    const int64_t n = static_cast<int64_t>(elements.size());
    int64_t sum = 0;
    for (const int8_t value : elements) sum += value;
    if (even) {
      store(call, index, requantize_even(sum - n * x_zp, mult, shift, y_zp));
      return;
    }
    const int64_t mean = (sum + (sum >= 0 ? n / 2 : -(n / 2))) / n;
    call.result<int8_t>()[index] = to_code(call, mean);
  });
}

void eval_qavg_pool2d16(const Call& call) {
  for_each_window<int16_t>(call, [&](size_t index, const std::vector<int16_t>& elements) {
    const int64_t n = static_cast<int64_t>(elements.size());
    int64_t sum = 0;
    for (const int16_t value : elements) sum += value;
    const int64_t mean = (sum + (sum >= 0 ? n / 2 : -(n / 2))) / n;
    call.result<int16_t>()[index] =
        static_cast<int16_t>(clamp(mean, call.integer("min"), call.integer("max")));
  });
}

void eval_mean(const Call& call) {
  const auto x = call.input<float>(0);
  std::vector<double> sums(call.result<float>().size(), 0.0);
  for_each<1>(call.shape(0), {reduced_steps(call)},
              [&](size_t i, const std::array<int64_t, 1>& to) {
                sums[static_cast<size_t>(to[0])] += static_cast<double>(x[i]);
              });
  const size_t count = x.size() / sums.size();
  for (size_t i = 0; i < sums.size(); ++i) {
    call.result<float>()[i] = static_cast<float>(sums[i] / static_cast<double>(count));
  }
}

void eval_qmean(const Call& call) {
  const auto x = call.input<int8_t>(0);
  const int64_t x_zp = call.integer("x_zp");
  const auto rounding = static_cast<Rounding>(call.integer("rounding"));
  std::vector<int64_t> sums(static_cast<size_t>(ir::element_count(call.output.shape)), 0);
  for_each<1>(call.shape(0), {reduced_steps(call)},
              [&](size_t i, const std::array<int64_t, 1>& to) {
                sums[static_cast<size_t>(to[0])] += x[i] - x_zp;
              });
  if (rounding == Rounding::kEven) {
    for (size_t i = 0; i < sums.size(); ++i) {
      store(call, i,
            requantize_even(sums[i], call.integer("mult"), call.integer("shift"),
                            call.integer("y_zp")));
    }
    return;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t mean = requantize(sums[i], call.integer("mult"), call.integer("shift"), rounding);
    call.result<int8_t>()[i] = to_code(call, wrap32(mean + call.integer("y_zp")));
  }
}

}  // namespace thimble::eval
