// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of norm.h that depend on the element type: instantiated for int8 in norm.cpp and
// for int16 in norm16.cpp.

#include "kernels/args/norm.h"
#include "kernels/args/requant16.h"
#include "numerics/fixed_point.h"
#include "numerics/inverse_sqrt.h"

namespace thimble::kernels {

struct NormSums {
  int32_t codes = 0;
  uint64_t squares = 0;

  template <class Code>
  void add(const Code* x, int32_t count, int32_t zero) {
    using Square = typename NormWords<Code>::Square;
    Square block = 0;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t code = x[i] - zero;
      codes += code;
      block += static_cast<uint32_t>(code * code);
    }
    squares += block;
  }
};

template <class Code>
NormSums norm_sums(const Code* x, const NormRow& row, int32_t zero) {
  constexpr int32_t kBlock = NormWords<Code>::kBlock;
  NormSums sums;
  for (int32_t o = 0; o < row.outer; ++o) {
    for (int32_t i = 0; i < row.inner; i += kBlock) {
      const int32_t rest = row.inner - i;
      sums.add(x + o * row.step + i, rest < kBlock ? rest : kBlock, zero);
    }
  }
  return sums;
}

/// Returns 1 / sqrt(n * the sum of the squares of the differences).
inline numerics::InverseSqrt scale_of(const NormSums& sums, const Norm& norm, int32_t n) {
  const int64_t mean = norm.centered ? sums.codes : 0;
  const uint64_t scaled_variance =
      static_cast<uint64_t>(n) * sums.squares - static_cast<uint64_t>(mean * mean);
  const uint64_t radicand = scaled_variance + norm.eps;
  return numerics::inverse_sqrt(radicand == 0 ? 1 : radicand);
}

/// 1 / sqrt as a factor of differences of int8 rows. A product that is rounded and shifted right by
/// 15 + e bits is the rounded high half of a product whose factors have been shifted left by 17 - e
/// bits together. The shifted factors fit 32 bits: with R the radicand, |difference| <= sqrt(n R) <
/// sqrt(n) 2^(16+e), so the difference may be shifted by 2 - e if n < 2^23. The normalized value is
/// less than sqrt(n) 2^17.
struct NarrowScale {
  int32_t factor, shift;

  explicit NarrowScale(const numerics::InverseSqrt& scale) {
    constexpr int32_t kFactorShiftMax = 15;  // the factor has 16 bits
    const int32_t left = 17 - scale.e;
    const int32_t of_factor = left < kFactorShiftMax ? left : kFactorShiftMax;
    factor = scale.t << of_factor;
    shift = left - of_factor;
  }
  int32_t normalized(int32_t difference) const {
    return numerics::rounded_high(difference * (1 << shift), factor);
  }
  /// `w` has 16 bits.
  static int32_t weighted(int32_t a, int32_t w) {
    return numerics::rounded_high(a * 2, w * (1 << 16));
  }
};

template <class Code>
void Norm::run(const Code* x, Code* y, const NormRow& row, int32_t entry) const {
  using Difference = typename NormWords<Code>::Difference;
  const int32_t x_zero = NormWords<Code>::kNarrow ? zero : 0;
  const int32_t y_zero = NormWords<Code>::kNarrow ? y_zp : 0;
  const int32_t n = row.count();
  const NormSums sums = norm_sums(x, row, x_zero);
  // n times the value that is subtracted from every element.
  const int32_t middle = centered ? sums.codes : n * x_zero;
  const numerics::InverseSqrt scale = scale_of(sums, *this, n);
  const NarrowScale narrow(scale);
  const int32_t right = 15 + scale.e;
  const int64_t half = (int64_t{1} << right) >> 1;
  // Copies: a store of int8 might otherwise change what `this` and `row` refer to.
  const NormRow of = row;
  const int32_t by = mult, down = -shift, least = min, most = max;
  for (int32_t o = 0; o < of.outer; ++o) {
    const int32_t first = entry + o * of.outer_entry;
    const int16_t* factor = w == nullptr ? nullptr : w + first;
    const int32_t* term = b == nullptr ? nullptr : b + first;
    const Code* from = x + o * of.step;
    Code* to = y + o * of.step;
    for (const Code* const end = from + of.inner; from != end; ++from, ++to) {
      const Difference difference = Difference{n} * *from - middle;
      int32_t a;
      if constexpr (NormWords<Code>::kNarrow) {
        a = narrow.normalized(difference);
        if (factor != nullptr) a = NarrowScale::weighted(a, *factor);
      } else {
        a = static_cast<int32_t>((static_cast<int64_t>(difference) * scale.t + half) >> right);
        if (factor != nullptr) {
          a = static_cast<int32_t>((static_cast<int64_t>(a) * *factor + (1 << 14)) >> 15);
        }
      }
      if (factor != nullptr) factor += of.inner_entry;
      if (term != nullptr) a += *term, term += of.inner_entry;
      const int32_t scaled = numerics::rounding_divide_by_pow2(numerics::high_mult(a, by), down);
      const int32_t code = numerics::wrap_add(scaled, y_zero);
      *to = static_cast<Code>(numerics::clamp(code, least, most));
    }
  }
}

template <class Code>
Status check_norm(const Tensor& x, const Tensor& y, const Norm& norm) {
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both)
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, NormWords<Code>::kNarrow ? DType::kI8 : DType::kI16));
  const bool bounds =
      NormWords<Code>::kNarrow ? are_bounds(norm.min, norm.max) : are_bounds16(norm.min, norm.max);
  const bool fine = norm.eps < uint64_t{1} << 62 && is_code(norm.zero) && is_code(norm.y_zp) &&
                    is_scale(norm.mult, norm.shift) && norm.shift <= 0 && bounds;
  if (!fine) return Status::kBadParameter;
  if (!same_sizes(x, y)) return Status::kBadShape;
  return same_layout(x, y) ? Status::kOk : Status::kBadDimOrder;
}

#define THIMBLE_NORM_ROWS(Code)                                                                   \
  template void Norm::run<Code>(const Code* x, Code* y, const NormRow& row, int32_t entry) const; \
  template Status check_norm<Code>(const Tensor& x, const Tensor& y, const Norm& norm)

}  // namespace thimble::kernels
