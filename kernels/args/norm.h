#pragma once
// What layer_norm, group_norm and rms_norm share: rows of codes, each normalized by its own exact
// sums. docs/numerics.md, "Norms". Code is int8_t or int16_t; the functions of the first are in
// norm.cpp, those of the second in norm16.cpp.

#include <cstdint>

#include "kernels/args/attributes.h"
#include "kernels/args/operands.h"

namespace thimble::kernels {

/// How a row lies in memory: `outer` runs of `inner` neighbours, `step` apart. Where the entry of
/// w and b lies that belongs to an element: so many entries on for each run, and within a run.
struct NormRow {
  int32_t outer = 1, inner = 1, step = 0;
  int32_t outer_entry = 0, inner_entry = 0;

  int32_t count() const { return outer * inner; }
};

/// What follows from the size of the codes.
template <class Code>
struct NormWords;
template <>
struct NormWords<int8_t> {
  static constexpr bool kNarrow = true;
  using Square = uint32_t;
  using Difference = int32_t;
  static constexpr int32_t kBlock = 1 << 15;  // squares of so many codes fit Square
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
  uint64_t eps = 0;
  int32_t zero = 0;  // rms_norm of int8: x_zp
  bool centered = true;
  int32_t y_zp = 0, mult = 0, shift = 0, min = 0, max = 0;
  const int16_t* w = nullptr;  // null: none
  const int32_t* b = nullptr;

  /// Reads the attributes from eps on. Of zero points, which only int8 has, x_zp is there where the
  /// rows are not centered.
  template <class Code>
  void read(AttributeReader& attributes, bool is_centered);
  /// One row; `entry`: of its first element in w and b. y may be x.
  template <class Code>
  void run(const Code* x, Code* y, const NormRow& row, int32_t entry) const;
};

/// The attributes are complete and in range, x and y of this code, of one shape and layout.
template <class Code>
Status check_norm(const Tensor& x, const Tensor& y, const AttributeReader& attributes,
                  const Norm& norm);
/// w: absent, or int16[entries]. b: absent, or a constant int32[entries] within 2^30. The sizes may
/// be those of several dimensions.
Status check_norm_entries(const Tensor& w, const Tensor& b, int32_t entries);

/// Rows of the last `dims` dimensions of a contiguous x, at most `longest` elements: layer_norm and
/// rms_norm.
Status check_trailing(const Tensor& x, uint32_t dims, int32_t longest);
template <class Code>
void run_trailing(const Norm& norm, const Tensor& x, const Tensor& y, uint32_t dims);

inline const int16_t* half_words(const Tensor& t) {
  return t.is_null ? nullptr : static_cast<const int16_t*>(t.data);
}

}  // namespace thimble::kernels
