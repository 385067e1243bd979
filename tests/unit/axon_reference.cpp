// SPDX-License-Identifier: Apache-2.0
#include "axon_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace thimble::axon_test {
namespace {

/// Calls `value(n, c, h, w)` for each element of `out`.
template <class Value>
void fill(Result& out, Value value) {
  out.values.clear();
  for (uint32_t n = 0; n < out.shape.n; ++n) {
    for (uint32_t c = 0; c < out.shape.c; ++c) {
      for (uint32_t h = 0; h < out.shape.h; ++h) {
        for (uint32_t w = 0; w < out.shape.w; ++w) out.values.push_back(value(n, c, h, w));
      }
    }
  }
}

int32_t apply(const Scaling& scaling, int64_t sum, uint32_t channel, const Result& out) {
  const uint32_t index = scaling.shifts.size() == 1 ? 0 : channel;
  const size_t which = scaling.leaky ? 2 * index + (sum >= 0 ? 1 : 0) : index;
  const int32_t value = quantized(sum * scaling.multipliers[which], scaling.shifts[index],
                                  out.zero_point, out.element_bytes);
  return scaling.relu ? std::max(value, out.zero_point) : value;
}

/// Returns an input coordinate, or -1 for padding.
int64_t position(uint32_t out, uint32_t stride, uint32_t tap, uint32_t dilation, uint32_t before,
                 uint32_t size) {
  const int64_t at = int64_t{out} * stride + int64_t{tap} * dilation - before;
  return at < 0 || at >= size ? -1 : at;
}

}  // namespace

int32_t quantized(int64_t scaled, uint32_t shift, int32_t zero_point, uint32_t element_bytes) {
  // An x87 long double holds 64 bits exactly and rounds to even.
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const long double exact =
      std::ldexp(static_cast<long double>(scaled), -static_cast<int>(shift)) + zero_point;
  const long double whole = std::nearbyint(exact);
  const long double most = std::ldexp(1.0L, static_cast<int>(8 * element_bytes) - 1);
  return static_cast<int32_t>(std::clamp(whole, -most, most - 1));
}

Shape Window::output(const Shape& in, uint32_t channels) const {
  const auto size = [](uint32_t from, uint32_t padding, uint32_t kernel, uint32_t dilation,
                       uint32_t stride) {
    return (from + padding - dilation * (kernel - 1) - 1) / stride + 1;
  };
  return {in.n, channels, size(in.h, top + bottom, kernel_h, dilation_y, stride_y),
          size(in.w, left + right, kernel_w, dilation_x, stride_x)};
}

void reference_fc(const Tensor& in, const std::vector<int8_t>& weights,
                  const std::vector<int32_t>& bias, const Scaling& scaling, Result& out) {
  const uint32_t ins = in.shape.elements() / in.shape.n;
  const uint32_t outs = out.shape.elements() / out.shape.n;
  out.values.clear();
  for (uint32_t n = 0; n < in.shape.n; ++n) {
    for (uint32_t o = 0; o < outs; ++o) {
      int64_t sum = bias.empty() ? 0 : bias[o];
      for (uint32_t i = 0; i < ins; ++i) sum += weights[o * ins + i] * in.values[n * ins + i];
      out.values.push_back(apply(scaling, sum, o, out));
    }
  }
}

void reference_conv(const Tensor& in, const std::vector<int8_t>& weights,
                    const std::vector<int32_t>& bias, const Window& window, bool depthwise,
                    const Scaling& scaling, Result& out) {
  const uint32_t ins = depthwise ? 1 : in.shape.c;
  fill(out, [&](uint32_t n, uint32_t o, uint32_t h, uint32_t w) {
    int64_t sum = bias.empty() ? 0 : bias[o];
    for (uint32_t i = 0; i < ins; ++i) {
      for (uint32_t y = 0; y < window.kernel_h; ++y) {
        for (uint32_t x = 0; x < window.kernel_w; ++x) {
          const int64_t row =
              position(h, window.stride_y, y, window.dilation_y, window.top, in.shape.h);
          const int64_t column =
              position(w, window.stride_x, x, window.dilation_x, window.left, in.shape.w);
          const int32_t value = row < 0 || column < 0
                                    ? in.zero_point
                                    : in.at(n, depthwise ? o : i, static_cast<uint32_t>(row),
                                            static_cast<uint32_t>(column));
          const size_t weight = ((o * ins + i) * window.kernel_h + y) * window.kernel_w + x;
          sum += weights[weight] * value;
        }
      }
    }
    return apply(scaling, sum, o, out);
  });
}

void reference_average(const Tensor& in, int32_t bias, const Window& window, const Scaling& scaling,
                       Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    int64_t sum = bias;
    for (uint32_t y = 0; y < window.kernel_h; ++y) {
      for (uint32_t x = 0; x < window.kernel_w; ++x) {
        sum += in.at(n, c, h * window.stride_y + y, w * window.stride_x + x);
      }
    }
    return apply(scaling, sum, 0, out);
  });
}

void reference_max(const Tensor& in, const Window& window, bool relu, Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    std::vector<int32_t> seen;
    for (uint32_t y = 0; y < window.kernel_h; ++y) {
      for (uint32_t x = 0; x < window.kernel_w; ++x) {
        const int64_t row = position(h, window.stride_y, y, 1, window.top, in.shape.h);
        const int64_t column = position(w, window.stride_x, x, 1, window.left, in.shape.w);
        if (row < 0 || column < 0) continue;
        seen.push_back(in.at(n, c, static_cast<uint32_t>(row), static_cast<uint32_t>(column)));
      }
    }
    const int32_t most = *std::max_element(seen.begin(), seen.end());
    return relu ? std::max(most, out.zero_point) : most;
  });
}

void reference_mean(const Tensor& in, int32_t bias, const Scaling& scaling, Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    int64_t sum = bias;
    for (uint32_t y = 0; y < in.shape.h; ++y) {
      for (uint32_t x = 0; x < in.shape.w; ++x) {
        const bool here = (out.shape.h == 1 || y == h) && (out.shape.w == 1 || x == w);
        if (here) sum += in.at(n, c, y, x);
      }
    }
    return apply(scaling, sum, 0, out);
  });
}

namespace {
int32_t stretched(const Tensor& t, uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
  return t.at(n % t.shape.n, c % t.shape.c, h % t.shape.h, w % t.shape.w);
}
}  // namespace

void reference_add(const Tensor& a, const Tensor& b, int32_t bias, const Scaling& scaling,
                   Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const int64_t sum = int64_t{scaling.multipliers[0]} * a.at(n, c, h, w) +
                        int64_t{scaling.multipliers[1]} * stretched(b, n, c, h, w) + bias;
    const int32_t value = quantized(sum, scaling.shifts[0], out.zero_point, out.element_bytes);
    return scaling.relu ? std::max(value, out.zero_point) : value;
  });
}

void reference_multiply(const Tensor& a, const Tensor& b, const Scaling& scaling, Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const int64_t product =
        int64_t{a.at(n, c, h, w) - a.zero_point} * (stretched(b, n, c, h, w) - b.zero_point);
    return apply(scaling, product, 0, out);
  });
}

void reference_concat(const std::vector<Tensor>& parts, axon::Axis axis, Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    std::array<uint32_t, 3> at = {c, h, w};
    uint32_t& along = at[static_cast<size_t>(axis)];
    for (const Tensor& part : parts) {
      const std::array<uint32_t, 3> size = {part.shape.c, part.shape.h, part.shape.w};
      const uint32_t here = size[static_cast<size_t>(axis)];
      if (along < here) return part.at(n, at[0], at[1], at[2]);
      along -= here;
    }
    return std::numeric_limits<int32_t>::min();
  });
}

void reference_slice(const Tensor& in, const std::vector<int32_t>& begin,
                     const std::vector<int32_t>& stride, Result& out) {
  const auto at = [&](uint32_t index, size_t axis) {
    return static_cast<uint32_t>(begin[axis] + static_cast<int32_t>(index) * stride[axis]);
  };
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    return in.at(n, at(c, 0), at(h, 1), at(w, 2));
  });
}

void reference_channel_pad(const Tensor& in, uint32_t front, Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const bool inside = c >= front && c - front < in.shape.c;
    return inside ? in.at(n, c - front, h, w) : out.zero_point;
  });
}

void reference_space_to_batch(const Tensor& in, const std::vector<int32_t>& attributes,
                              Result& out) {
  // Computed from the input: each element is written to one position; the rest is padding.
  out.values.assign(out.shape.elements(), in.zero_point);
  const auto v = [&](size_t i) { return static_cast<uint32_t>(attributes[i]); };
  for (uint32_t n = 0; n < in.shape.n; ++n) {
    for (uint32_t c = 0; c < in.shape.c; ++c) {
      for (uint32_t h = 0; h < in.shape.h; ++h) {
        for (uint32_t w = 0; w < in.shape.w; ++w) {
          const uint32_t y = h + v(2), x = w + v(4);
          const uint32_t image = (y % v(0) * v(1) + x % v(1)) * in.shape.n + n;
          const uint32_t at = ((image * out.shape.c + c) * out.shape.h + y / v(0)) * out.shape.w;
          out.values[at + x / v(1)] = in.at(n, c, h, w);
        }
      }
    }
  }
}

void reference_batch_to_space(const Tensor& in, const std::vector<int32_t>& attributes,
                              Result& out) {
  // Computed from the input; elements outside the crop are dropped.
  out.values.assign(out.shape.elements(), 0);
  const auto v = [&](size_t i) { return static_cast<uint32_t>(attributes[i]); };
  for (uint32_t image = 0; image < in.shape.n; ++image) {
    const uint32_t n = image % out.shape.n, block = image / out.shape.n;
    for (uint32_t c = 0; c < in.shape.c; ++c) {
      for (uint32_t h = 0; h < in.shape.h; ++h) {
        for (uint32_t w = 0; w < in.shape.w; ++w) {
          const uint32_t y = h * v(0) + block / v(1) - v(2), x = w * v(1) + block % v(1) - v(4);
          if (y >= out.shape.h || x >= out.shape.w) continue;
          out.values[((n * out.shape.c + c) * out.shape.h + y) * out.shape.w + x] =
              in.at(image, c, h, w);
        }
      }
    }
  }
}

void reference_resize(const Tensor& in, Result& out) {
  const auto from = [](uint32_t at, uint32_t size, uint32_t to) {
    return static_cast<uint32_t>(std::floor(static_cast<double>(at) * size / to));
  };
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    return in.at(n, c, from(h, in.shape.h, out.shape.h), from(w, in.shape.w, out.shape.w));
  });
}

namespace {
/// The documented product of three rounded powers, computed with libm.
uint64_t power(uint32_t d) {
  if (d >= 65536) return 0;
  const auto rounded = [](double x) {
    return static_cast<uint64_t>(std::llround(std::exp(-x) * 2147483648.0));
  };
  const auto product = [](uint64_t a, uint64_t b) { return (a * b + (1U << 30)) >> 31; };
  return product(product(rounded(d / 4096), rounded((d / 64 % 64) / 64.0)),
                 rounded((d % 64) / 4096.0));
}
}  // namespace

void reference_softmax(const Tensor& in, axon::Axis axis, Result& out) {
  fill(out, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    std::array<uint32_t, 3> at = {c, h, w};
    const std::array<uint32_t, 3> sizes = {in.shape.c, in.shape.h, in.shape.w};
    const auto along = static_cast<size_t>(axis);
    std::vector<int32_t> line;
    for (uint32_t i = 0; i < sizes[along]; ++i) {
      std::array<uint32_t, 3> other = at;
      other[along] = i;
      line.push_back(in.at(n, other[0], other[1], other[2]));
    }
    const int64_t most = *std::max_element(line.begin(), line.end());
    uint64_t sum = 0;
    for (const int32_t x : line) sum += power(static_cast<uint32_t>(most - x));
    const uint64_t own = power(static_cast<uint32_t>(most - line[at[along]]));
    const auto share = static_cast<int32_t>((512 * own + sum) / (2 * sum));
    return std::min(127, share - 128);
  });
}

int32_t reference_sigmoid(int32_t x) {
  const double s = 1 / (1 + std::exp(-x / 4096.0));
  return std::min(127, static_cast<int32_t>(std::lround(256 * s)) - 128);
}

int32_t reference_tanh(int32_t x) {
  return std::min(127, static_cast<int32_t>(std::lround(128 * std::tanh(x / 4096.0))));
}

}  // namespace thimble::axon_test
