// SPDX-License-Identifier: Apache-2.0
// For one kernel tap and one output channel, the contribution of all inputs is a row of
// weights^T * x: a plane of the input's size. The product gives these planes for a few taps at a
// time. Each plane is then added to the output at the position of its tap.

#include "quant/fast/transposed.h"

#include <Eigen/Core>
#include <algorithm>

namespace thimble::quant {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using Rows = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;
template <typename T>
using ConstRows = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;

constexpr int64_t kProductBytes = 256 * 1024;

struct Geometry {
  int64_t in_h, in_w, out_h, out_w, kernel_h, kernel_w;
  std::vector<int64_t> stride, padding, dilation;
};

/// Adds the plane of one tap to the plane of its output channel.
template <typename T>
void add_tap(const Geometry& g, int64_t tap, const T* from, T* plane) {
  const int64_t top = tap / g.kernel_w * g.dilation[0] - g.padding[0];
  const int64_t left = tap % g.kernel_w * g.dilation[1] - g.padding[1];
  // Input columns whose output position exists.
  const int64_t first = left >= 0 ? 0 : (-left + g.stride[1] - 1) / g.stride[1];
  const int64_t beyond = g.out_w - left;
  const int64_t last = beyond <= 0 ? 0 : std::min(g.in_w, (beyond + g.stride[1] - 1) / g.stride[1]);
  for (int64_t row = 0; row < g.in_h; ++row) {
    const int64_t y = row * g.stride[0] + top;
    if (y < 0 || y >= g.out_h) continue;
    const T* line = from + row * g.in_w;
    T* to = plane + y * g.out_w + left;
    for (int64_t column = first; column < last; ++column) {
      to[column * g.stride[1]] += line[column];
    }
  }
}

}  // namespace

template <typename T>
void convolve_transposed(const eval::Call& call, const T* x, const T* w, const T* bias, T* y,
                         Scratch& scratch) {
  const ir::Shape& in = call.shape(0);
  const ir::Shape& shape = call.shape(1);
  const ir::Shape& out = call.output.shape;
  const Geometry g = {in[2],
                      in[3],
                      out[2],
                      out[3],
                      shape[2],
                      shape[3],
                      call.op.get(ir::attr::stride),
                      call.op.get(ir::attr::padding),
                      call.op.get(ir::attr::dilation)};
  const int64_t groups = call.get(ir::attr::groups);
  const int64_t inputs = in[1] / groups;
  const int64_t taps = g.kernel_h * g.kernel_w;
  const int64_t columns = shape[1] * taps;  // weight columns: output channels of a group * taps
  const int64_t in_plane = in[2] * in[3];
  const int64_t out_plane = out[2] * out[3];
  const int64_t block =
      std::clamp<int64_t>(kProductBytes / (in_plane * static_cast<int64_t>(sizeof(T))), 1, columns);
  T* product = scratch.get<T>(0, static_cast<size_t>(block * in_plane));
  for (int64_t o = 0; o < out[0] * out[1]; ++o) {
    std::fill(y + o * out_plane, y + (o + 1) * out_plane,
              bias == nullptr ? T{0} : bias[o % out[1]]);
  }
  for (int64_t group = 0; group < out[0] * groups; ++group) {  // groups of all batch elements
    const ConstRows<T> image(x + group * inputs * in_plane, inputs, in_plane,
                             Eigen::OuterStride<>(in_plane));
    for (int64_t first = 0; first < columns; first += block) {
      const int64_t count = std::min(block, columns - first);
      const ConstRows<T> weights(w + group % groups * inputs * columns + first, inputs, count,
                                 Eigen::OuterStride<>(columns));
      Rows<T> planes(product, count, in_plane, Eigen::OuterStride<>(in_plane));
      planes.noalias() = weights.transpose() * image;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t o = group * shape[1] + (first + i) / taps;
        add_tap(g, (first + i) % taps, product + i * in_plane, y + o * out_plane);
      }
    }
  }
}

template void convolve_transposed(const eval::Call&, const float*, const float*, const float*,
                                  float*, Scratch&);
template void convolve_transposed(const eval::Call&, const double*, const double*, const double*,
                                  double*, Scratch&);

}  // namespace thimble::quant
