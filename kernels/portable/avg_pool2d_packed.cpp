// SPDX-License-Identifier: Apache-2.0
// thimble::avg_pool2d.packed: averages over windows of one NHWC image; formula:
// docs/numerics.md, "Pools and reductions"; constant: abi::WindowGeometry.
//
// Operands: x, WindowGeometry constant, y.
//
// A sum s of n values, each with 128 added, is divided by a multiplication. With m = ceil(2^24 /
// n), the integer part of (s + n/2) * m / 2^24 is exact up to n = 256, and the product fits 32
// bits. Halves round away from zero: for a negative mean and an even n, s is decremented before the
// division.

#include "abi/ops/pool.h"
#include "abi/params/window.h"
#include "kernels/args/column_sums.h"
#include "kernels/args/window_pool.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/pools.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t kFactorsUpTo = 256;

struct Divisor {
  uint32_t count;
  uint32_t factor = 0;
  int32_t half, zero, tie;  // zero: the sum for a mean of 0; tie: -1 if n is even, else 0

  explicit Divisor(uint32_t n)
      : count(n),
        half(static_cast<int32_t>(n / 2)),
        zero(static_cast<int32_t>(128 * n)),
        tie(n % 2 == 0 ? -1 : 0) {
    if (n <= kFactorsUpTo) factor = ((1U << 24) + n - 1) / n;
  }

  int32_t mean(uint32_t sum) const {
    const int32_t lower = (static_cast<int32_t>(sum) - zero) >> 31 & tie;
    const auto rounded = static_cast<uint32_t>(static_cast<int32_t>(sum) + half + lower);
    return static_cast<int32_t>(factor != 0 ? rounded * factor >> 24 : rounded / count) - 128;
  }
};

uint32_t one_sum(const Window& w, uint32_t channel) {
  const int8_t* x = w.x + channel;
  int32_t sum = 0;
  for (uint32_t row = 0; row < w.rows; ++row) {
    sum += column_sum(x, w.columns, w.column_step);
    x += w.row_step;
  }
  return static_cast<uint32_t>(sum) + 128 * w.rows * w.columns;
}

ColumnSums four_sums(const Window& w, uint32_t channel) {
  ColumnSums sums;
  const int8_t* x = w.x + channel;
  for (uint32_t row = 0; row < w.rows; ++row) {
    sums.add(x, w.columns, w.column_step);
    x += w.row_step;
  }
  return sums;
}

}  // namespace

void average_windows(void* const* operands) {
  Divisor divisor(1);
  for_each_window(operands, [&](const abi::WindowGeometry& g, Window w, int8_t* y) {
    const uint32_t count = w.rows * w.columns;
    if (count != divisor.count) divisor = Divisor(count);
    // Full rows of the image are contiguous.
    if (w.columns == g.in_w) {
      w.columns = count;
      w.rows = 1;
    }
    // Means are always in the int8 range.
    const bool bounded = g.min > -128 || g.max < 127;
    const auto code = [&](uint32_t sum) {
      const int32_t mean = divisor.mean(sum);
      return static_cast<int8_t>(bounded ? numerics::clamp(mean, g.min, g.max) : mean);
    };
    uint32_t c = 0;
    if (count <= kFactorsUpTo && is_word_aligned(operands[0], g.in_c)) {
      for (; c < g.in_c; c += 4) {
        four_sums(w, c).each([&](uint32_t k, uint32_t sum) { y[c + k] = code(sum); });
      }
    }
    for (; c < g.in_c; ++c) y[c] = code(one_sum(w, c));
  });
}

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_avg_pool2d_packed, check_window_pool, average_windows);

}  // namespace thimble::kernels
