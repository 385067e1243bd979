// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of softmax_rows that all cores share. A variant supplies the multiplication:
// Product::high(a, b) is floor((a * b + 2^31) / 2^32). Product::divided(a, b, right) is the product
// of two non-negative numbers, divided by 2^31 and then by 2^right, both to nearest; right is 4 to
// 31.

#include <cstdint>

#include "abi/ops/normalization.h"
#include "kernels/args/loop_nest.h"
#include "numerics/fixed_point.h"
#include "numerics/softmax.h"

namespace thimble::kernels {

Status check_softmax_rows(const Call& call);

/// Products of cores that multiply 32 bits to 64.
struct LongProduct {
  static int32_t high(int32_t a, int32_t b) { return numerics::rounded_high(a, b); }
  /// Adds both rounding halves before the product, so that one multiply-accumulate suffices.
  static uint32_t divided(int32_t a, uint32_t b, uint32_t right) {
    const uint32_t half = uint32_t{1} << (right - 1);
    const uint64_t halves = uint64_t{half} << 32 | uint64_t{1} << 31;
    const uint64_t sum = halves + uint64_t{static_cast<uint32_t>(a) * 2} * b;
    return static_cast<uint32_t>(sum >> 32) >> right;
  }
};

/// Returns 1 / (1 + x) for x in [0, 1) in Q0.31, with the results of
/// numerics::one_over_one_plus_x() but without its saturation steps. These are not needed: half of
/// the sum is in [1/2, 1); the first estimate and each y are in [1/2, 2], and below 2 up to the
/// last step; the error is below 1/8. Only the last doubling can overflow 32 bits. One factor of
/// each product is doubled.
template <class Product>
int32_t reciprocal(uint32_t x) {
  const auto half = static_cast<int32_t>((x >> 1) + (1U << 30));
  int32_t y = 1515870810 + Product::high(half, 2 * -1010580540);
#pragma GCC unroll 3
  for (int step = 0; step < 3; ++step) {
    const int32_t twice_error = (1 << 30) - 2 * Product::high(half, 2 * y);
    y += 4 * Product::high(y, twice_error);
  }
  return y >= 1 << 30 ? INT32_MAX : 2 * y;
}

/// Constants of the result type: int8 in units of 1/256 above -128, or int16 in units of 1/32768.
template <class Y>
struct SoftmaxCode;
template <>
struct SoftmaxCode<int8_t> {
  static constexpr int32_t kRight = 35, kMost = 255, kZero = -128;
};
template <>
struct SoftmaxCode<int16_t> {
  static constexpr int32_t kRight = 28, kMost = 32767, kZero = 0;
};

/// Values that the results of one row share: the maximum, the reciprocal of the sum of the
/// exponentials, and the number of leading zero bits of that sum in Q12.19.
struct SoftmaxRow {
  int32_t maximum, scale, headroom;
};
template <class Product>
SoftmaxRow softmax_row(const abi::SoftmaxRows& p, const int8_t* x) {
  constexpr uint32_t kSumMax = uint32_t{1} << 31;
  // The sum of this number of exponentials plus 2^31 fits 32 bits.
  constexpr uint32_t kPiece = 4095;
  const uint32_t length = p.length;
  int32_t maximum = x[0];
  for (uint32_t i = 1; i < length; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  uint32_t sum = 0;
  for (uint32_t left = length; left != 0;) {
    const uint32_t piece = left < kPiece ? left : kPiece;
    left -= piece;
    const int8_t* const end = x + piece;
    do {
      sum += (p.exp[maximum - *x++] + 2048) >> 12;
    } while (x != end);
    if (sum > kSumMax) sum = kSumMax;
  }
  // In a malicious constant, the table may give a smaller sum.
  if (sum < 1U << 16) sum = 1U << 16;
  const int32_t headroom = numerics::count_leading_zeros(sum);
  return {maximum, reciprocal<Product>(sum << headroom ^ 1U << 31), headroom};
}

template <class Product, class Y>
void softmax_results(const abi::SoftmaxRows& p, const SoftmaxRow& row, const int8_t* x, Y* y) {
  using Code = SoftmaxCode<Y>;
  const int32_t right = Code::kRight - row.headroom;
  const Y* const end = y + p.length;
  if (right > 31) {  // the result of the maximum is below 1/512
    while (y != end) *y++ = Code::kZero;
    return;
  }
  while (y != end) {
    // The index is masked, because a malicious overlap of y and x may have changed x.
    const uint32_t exp = p.exp[(row.maximum - *x++) & 255];
    const uint32_t code = Product::divided(row.scale, exp, static_cast<uint32_t>(right));
    const int32_t above =
        code > static_cast<uint32_t>(Code::kMost) ? Code::kMost : static_cast<int32_t>(code);
    *y++ = static_cast<Y>(above + Code::kZero);
  }
}

/// Computes a row of two elements: the constant has the results.
template <class Y>
void softmax_pair(const abi::SoftmaxRows& p, const int8_t* x, Y* y) {
  const int32_t apart = x[0] - x[1];
  const uint32_t codes = p.exp[(apart < 0 ? -apart : apart) & 255];
  const auto larger = static_cast<Y>(codes);
  const auto other = static_cast<Y>(codes >> 16);
  y[0] = apart < 0 ? other : larger;
  y[1] = apart < 0 ? larger : other;
}

template <class Product>
void softmax_rows(void* const* operands) {
  const abi::SoftmaxRows& p = packed<abi::op_info::thimble_softmax_rows>(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<uint8_t*>(operands[2]);
  for (uint32_t left = p.rows; left != 0; --left) {
    auto* const narrow = reinterpret_cast<int8_t*>(y);
    auto* const wide = reinterpret_cast<int16_t*>(y);
    if (p.length == 2) {
      p.wide != 0 ? softmax_pair(p, x, wide) : softmax_pair(p, x, narrow);
    } else {
      const SoftmaxRow row = softmax_row<Product>(p, x);
      if (p.wide != 0) {
        softmax_results<Product>(p, row, x, wide);
      } else {
        softmax_results<Product>(p, row, x, narrow);
      }
    }
    x += p.length;
    y += p.length << p.wide;
  }
}

}  // namespace thimble::kernels
