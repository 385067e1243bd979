// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolution uses one of three methods, all on [C,H,W] planes in the order of the IR:
// - 1x1: the input already is the matrix.
// - One input channel per group: phases (below), with loops that the compiler vectorizes.
// - Otherwise: im2col, a few output rows at a time so that the patch matrix fits the cache.
//
// Phases. A convolution with stride s reads, for kernel offset k, the input at s*i + k. The padded
// plane is split into s*s phase planes by (row mod s, column mod s). Each kernel offset then reads
// one phase plane at consecutive positions, for any stride and dilation. All phase planes have the
// same pitch, so an output plane is one loop over pitch * rows positions. The few positions beyond
// the end of a row are computed and dropped.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "quant/fast/convolution.h"

namespace thimble::quant {

inline constexpr int64_t kPatchBytes = 256 * 1024;
inline constexpr int64_t kPhaseLanes = 16;

/// Writes one row of the patch matrix: the elements of one plane that kernel offset (kh, kw) reads
/// for output rows [first, last).
template <typename T>
void fill_patch_row(const Convolution& c, const T* plane, int64_t kh, int64_t kw, int64_t first,
                    int64_t last, T* to) {
  for (int64_t oh = first; oh < last; ++oh, to += c.out_w) {
    const int64_t ih = oh * c.stride_h + kh * c.dilation_h - c.top;
    if (ih < 0 || ih >= c.in_h) {
      std::fill(to, to + c.out_w, T{0});
      continue;
    }
    const T* row = plane + ih * c.in_w;
    const int64_t start = kw * c.dilation_w - c.left;
    for (int64_t ow = 0; ow < c.out_w; ++ow) {
      const int64_t iw = start + ow * c.stride_w;
      to[ow] = iw >= 0 && iw < c.in_w ? row[iw] : T{0};
    }
  }
}

/// Layout of the padded plane split into phases: row r of phase (a, b) is padded row
/// r * stride_h + a.
struct PhasePlan {
  int64_t pitch, rows, phase_size;

  explicit PhasePlan(const Convolution& c) {
    const int64_t reach_h = (c.kernel_h - 1) * c.dilation_h / c.stride_h;
    const int64_t reach_w = (c.kernel_w - 1) * c.dilation_w / c.stride_w;
    pitch = c.out_w + reach_w;
    rows = c.out_h + reach_h;
    // The last chunk of lanes may read past the end of the plane, but not of the phase.
    phase_size = rows * pitch + reach_w + kPhaseLanes;
  }

  /// Returns the first element that each kernel offset reads, from the start of the phases.
  [[nodiscard]] std::vector<int64_t> tap_offsets(const Convolution& c) const {
    std::vector<int64_t> offsets;
    for (int64_t kh = 0; kh < c.kernel_h; ++kh) {
      for (int64_t kw = 0; kw < c.kernel_w; ++kw) {
        const int64_t h = kh * c.dilation_h;
        const int64_t v = kw * c.dilation_w;
        offsets.push_back((h % c.stride_h * c.stride_w + v % c.stride_w) * phase_size +
                          h / c.stride_h * pitch + v / c.stride_w);
      }
    }
    return offsets;
  }
};

template <typename T>
void split_phases(const Convolution& c, const PhasePlan& plan, const T* plane, T* phases) {
  std::fill(phases, phases + plan.phase_size * c.stride_h * c.stride_w, T{0});
  for (int64_t ih = 0; ih < c.in_h; ++ih) {
    const int64_t padded_h = ih + c.top;
    if (padded_h / c.stride_h >= plan.rows) break;
    const T* from = plane + ih * c.in_w;
    for (int64_t b = 0; b < c.stride_w; ++b) {
      T* to = phases + (padded_h % c.stride_h * c.stride_w + b) * plan.phase_size +
              padded_h / c.stride_h * plan.pitch;
      // Columns iw with (iw + left) mod stride_w = b are stored at (iw + left) / stride_w.
      int64_t position = c.left > b ? (c.left - b + c.stride_w - 1) / c.stride_w : 0;
      int64_t iw = position * c.stride_w + b - c.left;
      if (c.stride_w == 1) {
        const int64_t count = std::min(c.in_w - iw, plan.pitch - position);
        if (count > 0)
          std::memcpy(to + position, from + iw, static_cast<size_t>(count) * sizeof(T));
        continue;
      }
      for (; iw < c.in_w && position < plan.pitch; ++position, iw += c.stride_w) {
        to[position] = from[iw];
      }
    }
  }
}

}  // namespace thimble::quant
