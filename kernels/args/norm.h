// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts that layer_norm, group_norm and rms_norm share: rows of values, each normalized by its
// own exact sums. See docs/numerics.md, "Norms". Code is int8_t (functions in norm.cpp) or int16_t
// (functions in norm16.cpp).

#include <cstdint>

#include "abi/freestanding.h"
#include "abi/params/norm.h"
#include "kernels/args/operands.h"
#include "kernels/args/params.h"

namespace thimble::kernels {

/// Memory layout of a row: `outer` runs of `inner` contiguous elements, `step` apart. The index of
/// an element's entry in w and b grows by `outer_entry` per run and by `inner_entry` within a run.
struct NormRow {
  int32_t outer = 1, inner = 1, step = 0;
  int32_t outer_entry = 0, inner_entry = 0;

  int32_t count() const { return outer * inner; }
};

/// Types and limits that depend on the element size.
template <class Code>
struct NormWords;
template <>
struct NormWords<int8_t> {
  static constexpr bool kNarrow = true;
  using Square = uint32_t;
  using Difference = int32_t;
  static constexpr int32_t kBlock = 1 << 15;  // sum of this number of squares fits Square
  static constexpr int32_t kRowMax = (1 << 23) - 1;
};
template <>
struct NormWords<int16_t> {
  static constexpr bool kNarrow = false;
  using Square = uint64_t;
  using Difference = int64_t;
  static constexpr int32_t kBlock = 1 << 16;
  static constexpr int32_t kRowMax = 1 << 16;
};

struct Norm {
  uint64_t eps;
  int32_t zero;  // x_zp of int8 rms_norm
  bool centered = true;
  int32_t y_zp, mult, shift, min, max;
  const int16_t* w = nullptr;  // null: none
  const int32_t* b = nullptr;

  /// Reads a struct of abi/params/norm.h.
  template <class Params>
  explicit Norm(const Params& p)
      : eps(eps_of(p.int_eps, p.eps_shift)),
        zero(x_zp_of(p)),
        y_zp(y_zp_of(p)),
        mult(p.mult),
        shift(p.shift),
        min(p.min),
        max(p.max) {}
  /// Computes one row. `entry` is the index of its first element in w and b. y may be x.
  template <class Code>
  void run(const Code* x, Code* y, const NormRow& row, int32_t entry) const;

 private:
  /// Returns 2^63, which check_norm() rejects, if the numbers are out of range.
  static uint64_t eps_of(int32_t mantissa, int32_t exponent);
  // Only int8 has zero points, and only rms_norm needs that of x.
  template <class Params>
  static int32_t x_zp_of(const Params& p) {
    if constexpr (abi::kIsSame<Params, abi::RmsNormParams>) return p.x_zp;
    return 0;
  }
  template <class Params>
  static int32_t y_zp_of(const Params& p) {
    constexpr bool kWide = abi::kIsSame<Params, abi::GroupNorm16Params> ||
                           abi::kIsSame<Params, abi::LastDimsNorm16Params>;
    if constexpr (!kWide) return p.y_zp;
    return 0;
  }
};

/// Checks that the parameters are in range, and that x and y have element type Code,
/// the same shape and the same layout.
template <class Code>
Status check_norm(const Tensor& x, const Tensor& y, const Norm& norm);
/// Checks w (absent, or int16[entries]) and b (absent, or a constant int32[entries] within 2^30).
/// The entries may extend over several dimensions.
Status check_norm_entries(const Tensor& w, const Tensor& b, int32_t entries);

/// Checks that x is contiguous and that rows over its last `dims` dimensions have at most `longest`
/// elements (layer_norm and rms_norm).
Status check_trailing(const Tensor& x, uint32_t dims, int32_t longest);
/// Computes the rows over the last `dims` dimensions. `Rows` is Norm, or has a run() of its own.
template <class Code, class Rows>
void run_trailing(const Rows& norm, const Tensor& x, const Tensor& y, uint32_t dims) {
  NormRow row;
  for (uint32_t d = x.rank - dims; d < x.rank; ++d) row.inner *= x.sizes[d];
  row.inner_entry = 1;
  const int32_t count = elements(x);
  const Code* const from = static_cast<const Code*>(x.data);
  Code* const to = static_cast<Code*>(y.data);
  for (int32_t i = 0; i < count; i += row.inner) norm.run(from + i, to + i, row, 0);
}

inline const int16_t* half_words(const Tensor& t) {
  return t.is_null ? nullptr : static_cast<const int16_t*>(t.data);
}

}  // namespace thimble::kernels
