// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of convolutions and linear layers for any element types. Padding positions add nothing.
//
// Sums are computed plane by plane, one kernel tap at a time. The terms equal those of the textbook
// loop over output positions; the order gives sequential memory accesses.

#include <algorithm>
#include <vector>

#include "eval/call.h"

namespace thimble::eval {

/// Output positions along one dimension for which one kernel tap reads inside the input.
struct Range {
  int64_t first, last;  // last is exclusive
};
inline Range positions_inside(int64_t outputs, int64_t inputs, int64_t stride, int64_t tap_offset) {
  Range range{0, outputs};
  while (range.first < outputs && range.first * stride + tap_offset < 0) ++range.first;
  while (range.last > range.first && (range.last - 1) * stride + tap_offset >= inputs) --range.last;
  return range;
}

struct Geometry {
  int64_t in_h, in_w, out_h, out_w, kernel_h, kernel_w;
  std::vector<int64_t> stride, padding, dilation;
};
inline Geometry geometry(const Call& call) {
  const ir::Shape& x = call.shape(0);
  const ir::Shape& w = call.shape(1);
  const ir::Shape& y = call.output.shape;
  return {x[2],
          x[3],
          y[2],
          y[3],
          w[2],
          w[3],
          call.op.get(ir::attr::stride),
          call.op.get(ir::attr::padding),
          call.op.get(ir::attr::dilation)};
}

/// sums[y][x] += (plane[input position] - zero_point) * weights[ky][kx] over all taps.
template <typename Sum, typename T, typename W>
void add_plane(const Geometry& g, const T* plane, const W* weights, Sum zero_point, Sum* sums) {
  for (int64_t ky = 0; ky < g.kernel_h; ++ky) {
    const int64_t offset_y = ky * g.dilation[0] - g.padding[0];
    const Range rows = positions_inside(g.out_h, g.in_h, g.stride[0], offset_y);
    for (int64_t kx = 0; kx < g.kernel_w; ++kx) {
      const int64_t offset_x = kx * g.dilation[1] - g.padding[1];
      const Range columns = positions_inside(g.out_w, g.in_w, g.stride[1], offset_x);
      const Sum weight = static_cast<Sum>(weights[ky * g.kernel_w + kx]);
      for (int64_t y = rows.first; y < rows.last; ++y) {
        const T* line = plane + (y * g.stride[0] + offset_y) * g.in_w;
        Sum* to = sums + y * g.out_w;
        for (int64_t x = columns.first; x < columns.last; ++x) {
          to[x] += (static_cast<Sum>(line[x * g.stride[1] + offset_x]) - zero_point) * weight;
        }
      }
    }
  }
}

/// Calls finish(output channel, index in the result, sum) for every element.
template <typename Sum, typename T, typename W, typename Bias, typename Finish>
void convolve(const Call& call, Sum zero_point, Finish finish) {
  const Geometry g = geometry(call);
  const int64_t in_channels = call.shape(0)[1];
  const int64_t out_channels = call.shape(1)[0];
  const int64_t depth = call.shape(1)[1];
  const int64_t out_per_group = out_channels / (in_channels / depth);
  const int64_t in_plane = g.in_h * g.in_w;
  const int64_t out_plane = g.out_h * g.out_w;
  const T* x = call.input<T>(0).data();
  const W* w = call.input<W>(1).data();
  std::vector<Sum> sums(static_cast<size_t>(out_plane));
  for (int64_t n = 0; n < call.shape(0)[0]; ++n) {
    for (int64_t o = 0; o < out_channels; ++o) {
      const Sum bias =
          call.has(2) ? static_cast<Sum>(call.input<Bias>(2)[static_cast<size_t>(o)]) : 0;
      std::fill(sums.begin(), sums.end(), bias);
      const int64_t first_channel = o / out_per_group * depth;
      for (int64_t i = 0; i < depth; ++i) {
        add_plane(g, x + (n * in_channels + first_channel + i) * in_plane,
                  w + (o * depth + i) * g.kernel_h * g.kernel_w, zero_point, sums.data());
      }
      for (int64_t i = 0; i < out_plane; ++i) {
        finish(o, static_cast<size_t>((n * out_channels + o) * out_plane + i),
               sums[static_cast<size_t>(i)]);
      }
    }
  }
}

template <typename Sum, typename T, typename W, typename Bias, typename Finish>
void multiply(const Call& call, Sum zero_point, Finish finish) {
  const int64_t outputs = call.shape(1)[0];
  const int64_t terms = call.shape(1)[1];
  const int64_t rows = ir::element_count(call.shape(0)) / terms;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t o = 0; o < outputs; ++o) {
      const T* x = call.input<T>(0).data() + row * terms;
      const W* w = call.input<W>(1).data() + o * terms;
      Sum sum = call.has(2) ? static_cast<Sum>(call.input<Bias>(2)[static_cast<size_t>(o)]) : 0;
      for (int64_t i = 0; i < terms; ++i) {
        sum += (static_cast<Sum>(x[i]) - zero_point) * static_cast<Sum>(w[i]);
      }
      finish(o, static_cast<size_t>(row * outputs + o), sum);
    }
  }
}

}  // namespace thimble::eval
