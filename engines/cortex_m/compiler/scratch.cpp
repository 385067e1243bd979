// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/scratch.h"

#include <algorithm>

#include "base/rounding.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::Isa;

/// im2col: four int8 columns in whole vectors on MVE, two int16 columns elsewhere.
int64_t columns_bytes(int64_t column, Isa isa) {
  return isa == Isa::kMve ? 4 * round_up(column, 16) : 2 * round_up(column, 4) * 2;
}

/// The 1xN kernel of MVE copies only the columns that touch the padding.
int64_t row_bytes_mve(const WindowShape& s) {
  const int64_t total_pad = (s.out_w - 1) * s.stride_w + s.kernel_w - s.in_w;
  const int64_t asymmetric = total_pad % 2;
  // As in the library, where C's precedence gives (pad + asymmetric) != 0.
  const int64_t right =
      s.pad_w + asymmetric != 0
          ? std::max<int64_t>(1, (s.pad_w + asymmetric + s.stride_w - 1) / s.stride_w)
          : 0;
  const int64_t left =
      s.pad_w != 0 ? std::max<int64_t>(1, (s.pad_w + s.stride_w - 1) / s.stride_w) : 0;
  const int64_t middle = std::max<int64_t>(s.out_w - (right + left), 0);
  if (right + middle + left != s.out_w)
    return columns_bytes(s.in_c * s.kernel_w * s.kernel_h, Isa::kMve);
  const int64_t pad_left = s.pad_w * s.in_c;
  const int64_t pad_right = asymmetric != 0 ? right * s.in_c : pad_left;
  const int64_t elements_left = s.kernel_w * s.in_c;
  return std::max(elements_left + pad_left, elements_left - s.in_c + pad_right);
}

}  // namespace

int64_t conv_scratch_bytes(const WindowShape& s, Isa isa) {
  const bool undilated = s.dilation_h == 1 && s.dilation_w == 1;
  const bool pointwise = s.pad_h == 0 && s.pad_w == 0 && s.kernel_h == 1 && s.kernel_w == 1 &&
                         undilated && s.in_c == s.kernel_c;
  if (pointwise) return 0;
  const bool row = s.in_h == 1 && s.dilation_w == 1 && s.kernel_h == 1 &&
                   (s.stride_w * s.in_c) % 4 == 0 && s.in_c == s.kernel_c;
  if (row && isa == Isa::kMve) return row_bytes_mve(s);
  return columns_bytes(s.in_c * s.kernel_w * s.kernel_h, isa);
}

int64_t depthwise_scratch_bytes(const WindowShape& s, Isa isa) {
  constexpr int64_t kChannelBlockMve = 124;
  const int64_t taps = s.kernel_h * s.kernel_w;
  int64_t bytes = 0;
  if (s.in_c == s.out_c && s.batch == 1 && s.dilation_h == 1 && s.dilation_w == 1) {
    const bool small = s.kernel_h == 3 && s.kernel_w == 3 && s.pad_h <= 1 && s.pad_w <= 1;
    if (isa == Isa::kMve) bytes = 4 * kChannelBlockMve * taps;
    if (isa == Isa::kDsp && !small) bytes = 2 * s.in_c * taps;
  }
  if (isa == Isa::kMve && s.in_c == 1 && s.out_c > 1) {
    // One input channel runs as a convolution with a transposed copy of the weights.
    bytes = std::max(bytes, columns_bytes(taps, isa) + taps * s.out_c);
  }
  return bytes;
}

int64_t avg_pool_scratch_bytes(const WindowShape& s, Isa isa) {
  return isa == Isa::kDsp ? 4 * s.in_c : 0;
}

}  // namespace thimble::engine::cortex_m
