// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/convolution.h"

#include <Eigen/Core>
#include <algorithm>
#include <cstring>

#include "quant/fast/convolution_layout.h"

namespace thimble::quant {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using Rows = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;
template <typename T>
using ConstRows = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;

template <typename T>
void pointwise(const Convolution& c, const T* x, const T* w, T* y) {
  const int64_t plane = c.in_h * c.in_w;
  const ConstRows<T> weights(w, c.out_channels, c.in_channels, Eigen::OuterStride<>(c.in_channels));
  const ConstRows<T> input(x, c.in_channels, plane, Eigen::OuterStride<>(plane));
  Rows<T> output(y, c.out_channels, plane, Eigen::OuterStride<>(plane));
  output.noalias() = weights * input;
}

template <typename T>
void by_patches(const Convolution& c, const T* x, const T* w, T* y, Scratch& scratch) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t outputs = c.out_channels / c.groups;
  const int64_t row_bytes = c.terms() * c.out_w * static_cast<int64_t>(sizeof(T));
  const int64_t rows = std::clamp<int64_t>(kPatchBytes / row_bytes, 1, c.out_h);
  T* patches = scratch.get<T>(0, static_cast<size_t>(c.terms() * rows * c.out_w));
  for (int64_t group = 0; group < c.groups; ++group) {
    for (int64_t first = 0; first < c.out_h; first += rows) {
      const int64_t last = std::min(first + rows, c.out_h);
      const int64_t columns = (last - first) * c.out_w;
      T* to = patches;
      for (int64_t channel = 0; channel < channels; ++channel) {
        const T* plane = x + (group * channels + channel) * c.in_h * c.in_w;
        for (int64_t kh = 0; kh < c.kernel_h; ++kh) {
          for (int64_t kw = 0; kw < c.kernel_w; ++kw, to += columns) {
            fill_patch_row(c, plane, kh, kw, first, last, to);
          }
        }
      }
      const int64_t out_plane = c.out_h * c.out_w;
      const ConstRows<T> weights(w + group * outputs * c.terms(), outputs, c.terms(),
                                 Eigen::OuterStride<>(c.terms()));
      const ConstRows<T> matrix(patches, c.terms(), columns, Eigen::OuterStride<>(columns));
      Rows<T> output(y + group * outputs * out_plane + first * c.out_w, outputs, columns,
                     Eigen::OuterStride<>(out_plane));
      output.noalias() = weights * matrix;
    }
  }
}

template <typename T>
void filter_phases(const Convolution& c, const PhasePlan& plan, const T* phases, const T* w,
                   const int64_t* offsets, T* sums) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  const int64_t positions = (c.out_h - 1) * plan.pitch + c.out_w;
  for (int64_t i = 0; i < positions; i += kPhaseLanes) {
    T lanes[kPhaseLanes] = {};
    for (int64_t tap = 0; tap < taps; ++tap) {
      const T* from = phases + offsets[tap] + i;
      const T weight = w[tap];
      for (int64_t lane = 0; lane < kPhaseLanes; ++lane) lanes[lane] += from[lane] * weight;
    }
    std::copy(lanes, lanes + kPhaseLanes, sums + i);
  }
}

template <typename T>
void by_phases(const Convolution& c, const T* x, const T* w, T* y, Scratch& scratch) {
  const PhasePlan plan(c);
  const int64_t outputs = c.out_channels / c.groups;
  const int64_t taps = c.kernel_h * c.kernel_w;
  T* phases = scratch.get<T>(0, static_cast<size_t>(plan.phase_size * c.stride_h * c.stride_w));
  T* sums = scratch.get<T>(1, static_cast<size_t>(c.out_h * plan.pitch + kPhaseLanes));
  const std::vector<int64_t> offsets = plan.tap_offsets(c);
  for (int64_t channel = 0; channel < c.in_channels; ++channel) {
    split_phases(c, plan, x + channel * c.in_h * c.in_w, phases);
    for (int64_t o = channel * outputs; o < (channel + 1) * outputs; ++o) {
      filter_phases(c, plan, phases, w + o * taps, offsets.data(), sums);
      T* to = y + o * c.out_h * c.out_w;
      for (int64_t oh = 0; oh < c.out_h; ++oh) {
        std::memcpy(to + oh * c.out_w, sums + oh * plan.pitch,
                    static_cast<size_t>(c.out_w) * sizeof(T));
      }
    }
  }
}

}  // namespace

bool Convolution::pointwise() const {
  return kernel_h == 1 && kernel_w == 1 && stride_h == 1 && stride_w == 1 && out_h == in_h &&
         out_w == in_w && groups == 1;
}

bool Convolution::depthwise() const {
  return groups == in_channels;
}

Convolution convolution_of(const eval::Call& call) {
  const ir::Shape& x = call.shape(0);
  const ir::Shape& w = call.shape(1);
  const ir::Shape& y = call.output.shape;
  const auto& stride = call.op.get(ir::attr::stride);
  const auto& dilation = call.op.get(ir::attr::dilation);
  const auto& padding = call.op.get(ir::attr::padding);
  return {x[0],        x[1],       x[2],       x[3],
          y[1],        y[2],       y[3],       w[2],
          w[3],        stride[0],  stride[1],  dilation[0],
          dilation[1], padding[0], padding[1], call.get(ir::attr::groups)};
}

void fix_block_sizes() {
  // Fixed cache sizes, not those of the machine: products must be summed in the same order
  // everywhere.
  static const bool done = [] {
    Eigen::setCpuCacheSizes(32 * 1024, 512 * 1024, 4 * 1024 * 1024);
    return true;
  }();
  (void)done;
}

template <typename T>
void convolve(const Convolution& c, const T* x, const T* w, const T* bias, T* y, Scratch& scratch) {
  const int64_t out_plane = c.out_h * c.out_w;
  for (int64_t n = 0; n < c.batch; ++n) {
    const T* image = x + n * c.in_channels * c.in_h * c.in_w;
    T* result = y + n * c.out_channels * out_plane;
    if (c.pointwise()) {
      pointwise(c, image, w, result);
    } else if (c.depthwise()) {
      by_phases(c, image, w, result, scratch);
    } else {
      by_patches(c, image, w, result, scratch);
    }
    if (bias == nullptr) continue;
    for (int64_t o = 0; o < c.out_channels; ++o) {
      const T add = bias[o];
      T* plane = result + o * out_plane;
      for (int64_t i = 0; i < out_plane; ++i) plane[i] += add;
    }
  }
}

template <typename T>
void multiply_transposed(const T* x, const T* w, T* y, int64_t rows, int64_t in, int64_t out) {
  const ConstRows<T> input(x, rows, in, Eigen::OuterStride<>(in));
  const ConstRows<T> weights(w, out, in, Eigen::OuterStride<>(in));
  Rows<T> output(y, rows, out, Eigen::OuterStride<>(out));
  output.noalias() = input * weights.transpose();
}

template void convolve(const Convolution&, const float*, const float*, const float*, float*,
                       Scratch&);
template void convolve(const Convolution&, const double*, const double*, const double*, double*,
                       Scratch&);
template void multiply_transposed(const float*, const float*, float*, int64_t, int64_t, int64_t);
template void multiply_transposed(const double*, const double*, double*, int64_t, int64_t, int64_t);

}  // namespace thimble::quant
