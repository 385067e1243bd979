// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checks that load makes for both representations of a program: ranges of memory, shapes, and
// the requirements of argument letters. Each function is inlined where a representation is read.

#include "abi/freestanding.h"
#include "abi/limits.h"
#include "abi/pte_format.h"
#include "abi/status.h"
#include "kernels/kernels.h"
#include "runtime/program/inline.h"

namespace thimble::runtime {

// --- Ranges --------------------------------------------------------------------------------------

/// Returns true if the range of `bytes` bytes at offset `at` is inside `total` bytes.
constexpr bool is_inside(uint32_t at, uint32_t bytes, uint32_t total) {
  return at <= total && bytes <= total - at;
}

/// Same as is_inside(), with fewer instructions. `at` and `bytes` must be below 2^31, so that their
/// sum does not wrap.
constexpr bool is_sum_inside(uint32_t at, uint32_t bytes, uint32_t total) {
  return at + bytes <= total;
}

/// Returns true if a planned tensor is inside the arena and aligned to its elements. `element` is a
/// power of two. `at` and `bytes` must be below 2^31.
constexpr bool is_valid_planned(uint32_t at, uint32_t bytes, uint32_t element, uint32_t total) {
  return is_sum_inside(at, bytes, total) && (at & (element - 1)) == 0;
}

// --- Shapes --------------------------------------------------------------------------------------

/// Verifies a shape: dim_order is a permutation, and `unit` times the product of the sizes is at
/// most kMax. `rank` is at most abi::kMaxRank. Writes that product to `product`. `shape` has the
/// members size(i) and dim(i).
template <uint32_t kMax, class Shape>
THIMBLE_INLINE bool check_shape(const Shape& shape, uint32_t rank, uint32_t unit,
                                uint32_t& product) {
  if (rank == 1) {  // fast path for biases and packed constants
    const uint64_t all = uint64_t{unit} * shape.size(0);
    product = static_cast<uint32_t>(all);
    return all <= kMax && shape.dim(0) == 0;
  }
  // `extent` counts a dimension of size 0 as 1: then products of any subset of the sizes fit too.
  uint32_t extent = unit, seen = 0, any = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint32_t size = shape.size(i);
    const uint32_t dim = shape.dim(i);
    if (dim >= rank) return false;
    seen |= 1U << dim;
    if (size == 0) {
      any = 0;
      continue;
    }
    const uint64_t more = uint64_t{extent} * size;
    if (more > kMax) return false;
    extent = static_cast<uint32_t>(more);
  }
  product = any * extent;
  // `rank` entries that set exactly the bits below `rank` are a permutation.
  return seen == (1U << rank) - 1;
}

/// Checks the length of a list of integers, which a kernel reads from kernels::IntList.
constexpr abi::Status check_int_count(uint32_t count) {
  return count <= abi::kMaxIntList ? abi::Status::kOk : abi::Status::kUnsupported;
}

// --- Argument letters ----------------------------------------------------------------------------

/// Requirements of a letter of abi/pte_ops.def on an argument.
struct ArgumentLetter {
  char letter;
  uint8_t tag;               // abi::pte::value_tag of the type that kernels read
  bool is_written = false;   // the kernel writes the tensor, or the tensors of the list
  bool is_optional = false;  // the tensor may be None
};

/// kernels::is_multi_type() returns true for the letters that also accept values of other types.
inline constexpr ArgumentLetter kArgumentLetters[] = {
    {'T', abi::pte::value_tag::kTensor},       {'o', abi::pte::value_tag::kTensor, true},
    {'s', abi::pte::value_tag::kTensor, true}, {'t', abi::pte::value_tag::kTensor, false, true},
    {'i', abi::pte::value_tag::kInt},          {'j', abi::pte::value_tag::kInt},
    {'b', abi::pte::value_tag::kBool},         {'d', abi::pte::value_tag::kDouble},
    {'y', abi::pte::value_tag::kDouble},       {'z', abi::pte::value_tag::kDouble},
    {'c', abi::pte::value_tag::kString},       {'l', abi::pte::value_tag::kIntList},
    {'k', abi::pte::value_tag::kIntList},      {'q', abi::pte::value_tag::kDoubleList},
    {'R', abi::pte::value_tag::kTensorList},   {'w', abi::pte::value_tag::kTensorList, true},
};

/// Returns true if `letter` is in a row for which kCondition is true. Compiles to comparisons with
/// the letters of those rows.
template <bool (*kCondition)(const ArgumentLetter&), uint32_t kRow = 0>
THIMBLE_INLINE constexpr bool is_in_rows(char letter) {
  if constexpr (kRow == abi::count_of(kArgumentLetters)) {
    return false;
  } else if constexpr (kCondition(kArgumentLetters[kRow])) {
    return letter == kArgumentLetters[kRow].letter || is_in_rows<kCondition, kRow + 1>(letter);
  } else {
    return is_in_rows<kCondition, kRow + 1>(letter);
  }
}

template <uint8_t kTag>
constexpr bool row_has_tag(const ArgumentLetter& row) {
  return row.tag == kTag;
}
template <uint8_t kTag>
constexpr bool row_is_written(const ArgumentLetter& row) {
  return row.tag == kTag && row.is_written;
}
constexpr bool row_is_optional(const ArgumentLetter& row) {
  return row.is_optional;
}

template <uint8_t kTag>
THIMBLE_INLINE constexpr bool has_tag(char letter) {
  return is_in_rows<row_has_tag<kTag>>(letter);
}
template <uint8_t kTag>
THIMBLE_INLINE constexpr bool is_written(char letter) {
  return is_in_rows<row_is_written<kTag>>(letter);
}
THIMBLE_INLINE constexpr bool is_optional(char letter) {
  return is_in_rows<row_is_optional>(letter);
}

}  // namespace thimble::runtime
