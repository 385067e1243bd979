// SPDX-License-Identifier: Apache-2.0
// Transposed convolution and bilinear resizing, float and integer.

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Adds each input element to all outputs that its window covers, as in the definition.
template <typename Sum, typename T, typename W, typename Bias, typename Finish>
void convolve_transposed(const Call& call, Sum zero_point, Finish finish) {
  const ir::Shape& in = call.shape(0);
  const ir::Shape& w = call.shape(1);
  const ir::Shape& out = call.output.shape;
  const auto& stride = call.op.get(ir::attr::stride);
  const auto& padding = call.op.get(ir::attr::padding);
  const auto& dilation = call.op.get(ir::attr::dilation);
  const int64_t group_inputs = in[1] / call.get(ir::attr::groups);
  std::vector<Sum> sums(static_cast<size_t>(ir::element_count(out)), Sum{0});
  for_each<1>(in, {ir::strides(in, {})}, [&](size_t index, const std::array<int64_t, 1>&) {
    int64_t rest = static_cast<int64_t>(index);
    const int64_t column = rest % in[3];
    rest /= in[3];
    const int64_t row = rest % in[2];
    rest /= in[2];
    const int64_t channel = rest % in[1];
    const int64_t n = rest / in[1];
    const Sum x = static_cast<Sum>(call.input<T>(0)[index]) - zero_point;
    const W* weight = call.input<W>(1).data() + channel * w[1] * w[2] * w[3];
    for (int64_t o = 0; o < w[1]; ++o) {
      const int64_t plane = n * out[1] + channel / group_inputs * w[1] + o;
      for (int64_t ky = 0; ky < w[2]; ++ky) {
        const int64_t y = row * stride[0] + ky * dilation[0] - padding[0];
        for (int64_t kx = 0; kx < w[3]; ++kx, ++weight) {
          const int64_t to = column * stride[1] + kx * dilation[1] - padding[1];
          if (y < 0 || y >= out[2] || to < 0 || to >= out[3]) continue;
          sums[static_cast<size_t>((plane * out[2] + y) * out[3] + to)] +=
              x * static_cast<Sum>(*weight);
        }
      }
    }
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t o = i / static_cast<size_t>(out[2] * out[3]) % static_cast<size_t>(out[1]);
    const Sum bias = call.has(2) ? static_cast<Sum>(call.input<Bias>(2)[o]) : Sum{0};
    finish(static_cast<int64_t>(o), i, sums[i] + bias);
  }
}

/// The two input rows or columns between which an output row or column is interpolated.
struct Between {
  int64_t low, high;
  double weight;  // weight of `high`
};

Between between(const Call& call, int64_t position, size_t dim, double factor) {
  const double in = static_cast<double>(call.shape(0)[dim]);
  const double out = static_cast<double>(call.output.shape[dim]);
  const double at = static_cast<double>(position);
  double source = 0;
  if (call.get(ir::attr::align_corners) != 0) {
    source = out > 1 ? at * (in - 1) / (out - 1) : 0;
  } else {
    source = (at + 0.5) * (factor > 0 ? 1 / factor : in / out) - 0.5;
  }
  source = std::max(source, 0.0);
  const int64_t low = static_cast<int64_t>(std::min(std::floor(source), in - 1));
  const int64_t high = std::min(low + 1, call.shape(0)[dim] - 1);
  return {low, high, std::min(source - static_cast<double>(low), 1.0)};
}

/// Calls visit(index in the result, input plane, row, column).
template <typename T, typename Visit>
void for_each_pixel(const Call& call, Visit visit) {
  const ir::Shape& in = call.shape(0);
  const ir::Shape& out = call.output.shape;
  size_t index = 0;
  for (int64_t plane = 0; plane < out[0] * out[1]; ++plane) {
    const T* x = call.input<T>(0).data() + plane * in[2] * in[3];
    for (int64_t row = 0; row < out[2]; ++row) {
      for (int64_t column = 0; column < out[3]; ++column) visit(index++, x, row, column);
    }
  }
}

/// Interpolates quantized values without rescaling.
template <typename T>
void integer_resize(const Call& call) {
  const int64_t height = call.shape(0)[2];
  const int64_t width = call.shape(0)[3];
  for_each_pixel<T>(call, [&](size_t index, const T* x, int64_t row, int64_t column) {
    const auto table = [&](size_t operand, int64_t i) {
      return int64_t{call.input<int32_t>(operand)[static_cast<size_t>(i)]};
    };
    const int64_t low = table(1, row);
    const int64_t high = std::min(low + 1, height - 1);
    const int64_t left = table(3, column);
    const int64_t right = std::min(left + 1, width - 1);
    const int64_t a = table(2, row);
    const int64_t b = table(4, column);
    const int64_t above = (2048 - b) * x[low * width + left] + b * x[low * width + right];
    const int64_t below = (2048 - b) * x[high * width + left] + b * x[high * width + right];
    const int64_t sum = (2048 - a) * above + a * below;
    call.result<T>()[index] = static_cast<T>(floor_divide(sum + pow2(21), pow2(22)));
  });
}

}  // namespace

void eval_conv_transpose2d(const Call& call) {
  convolve_transposed<double, float, float, float>(
      call, 0.0, [&](int64_t, size_t index, double sum) {
        call.result<float>()[index] = static_cast<float>(sum);
      });
}

void eval_resize_bilinear(const Call& call) {
  const int64_t width = call.shape(0)[3];
  const double scale_h = call.op.get(ir::attr::scale_h);
  const double scale_w = call.op.get(ir::attr::scale_w);
  for_each_pixel<float>(call, [&](size_t index, const float* x, int64_t row, int64_t column) {
    const Between h = between(call, row, 2, scale_h);
    const Between w = between(call, column, 3, scale_w);
    const auto line = [&](int64_t y) {
      return (1 - w.weight) * static_cast<double>(x[y * width + w.low]) +
             w.weight * static_cast<double>(x[y * width + w.high]);
    };
    const double value = (1 - h.weight) * line(h.low) + h.weight * line(h.high);
    call.result<float>()[index] = static_cast<float>(value);
  });
}

void eval_qconv_transpose2d(const Call& call) {
  const Rounding rounding = rounding_of(call);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const auto store = clamped_store(call);
  convolve_transposed<int64_t, int8_t, int8_t, int32_t>(
      call, call.get(ir::attr::x_zp), [&](int64_t o, size_t index, int64_t sum) {
        const int64_t scaled =
            requantize(wrap32(sum), channel_entry(call, 3, o), channel_entry(call, 4, o), rounding);
        store(index, wrap32(scaled + y_zp));
      });
}

void eval_qconv_transpose2d16(const Call& call) {
  const auto store = clamped_store(call);
  convolve_transposed<int64_t, int16_t, int8_t, int64_t>(
      call, 0, [&](int64_t o, size_t index, int64_t sum) {
        store(index, requantize64(sum, channel_entry(call, 3, o), channel_entry(call, 4, o)));
      });
}

void eval_qresize_bilinear(const Call& call) {
  is_wide(call) ? integer_resize<int16_t>(call) : integer_resize<int8_t>(call);
}

}  // namespace thimble::eval
