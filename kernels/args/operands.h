// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks and queries of operands that every kernel family uses.
//
// Two dim_orders are equivalent if they differ only in the positions of dimensions of size 1: the
// bytes are identical. All layout queries below use this equivalence.

#include <string.h>
#include <cstdint>

#include "abi/pte_op.h"
#include "kernels/kernels.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {

inline const Tensor& tensor(const Call& call, uint32_t i) {
  return call.args[i].tensor;
}
inline const IntList& ints(const Call& call, uint32_t i) {
  return call.args[i].ints;
}
/// Requires integers_fit().
inline int32_t integer(const Call& call, uint32_t i) {
  return static_cast<int32_t>(call.args[i].integer);
}
inline const int8_t* codes(const Tensor& t) {
  return static_cast<const int8_t*>(t.data);
}
inline int8_t* mutable_codes(const Tensor& t) {
  return static_cast<int8_t*>(t.data);
}

/// Signatures of the stock image operators: with scratch as the last input; without scratch
/// (earlier releases); and with images whose logical order is N, H, W, C.
enum class StockSignature : uint8_t { kCurrent, kNoScratch, kNhwc };
/// Indices of height, width and channels in the sizes of an image.
struct ImageDims {
  uint8_t height, width, channels;
};
constexpr ImageDims image_dims(StockSignature form) {
  return form == StockSignature::kNhwc ? ImageDims{1, 2, 3} : ImageDims{2, 3, 1};
}

/// Returns the size of one element in bytes, or 0 for a type that no kernel supports.
uint32_t element_bytes(DType dtype);

/// The arguments of an operator with letter `i` or `b`.
struct Letters {
  uint32_t integers = 0;  // one bit per argument
};
constexpr Letters letters(const abi::PteOpInfo& info) {
  Letters letters;
  const char* const all = info.arguments;
  for (uint32_t i = 0; all[i] != '\0'; ++i) {
    if (all[i] == 'i' || all[i] == 'b') letters.integers |= 1U << i;
  }
  return letters;
}
/// Returns true if every `i` and `b` argument fits 32 bits. `letters` are those of the call's
/// operator.
inline bool integers_fit(const Call& call, Letters letters) {
  uint32_t wrong = 0;
  for (uint32_t rest = letters.integers; rest != 0; rest &= rest - 1) {
    const int64_t integer = call.args[static_cast<uint32_t>(__builtin_ctz(rest))].integer;
    wrong |= static_cast<uint32_t>(integer >> 32) ^
             static_cast<uint32_t>(static_cast<int32_t>(integer) >> 31);
  }
  return wrong == 0;
}

/// Checks that the tensor is present, its rank is within limits, dim_order is a permutation, sizes
/// are positive and `bytes` matches them. Data must be aligned; only constants must have an
/// address.
Status verify_tensor(const Tensor& t);
inline Status check_tensor(const Tensor& t) {
  return t.is_verified ? Status::kOk : verify_tensor(t);
}
inline Status check_tensor(const Tensor& t, DType dtype) {
  if (!t.is_null && t.dtype != dtype) return Status::kBadDType;
  return check_tensor(t);
}
/// Checks a constant that run() reads as 32-bit words: at least `bytes` long and aligned.
Status check_blob(const Tensor& t, int64_t bytes);
/// Returns a copy of the operator's parameters, which are at the start of a constant of any
/// alignment.
template <const abi::PteOpInfo&... kOps>
abi::ParamsOf<kOps...> read_params(const Tensor& t) {
  abi::ParamsOf<kOps...> params;
  memcpy(&params, t.data, sizeof params);
  return params;
}

inline int32_t elements(const Tensor& t) {
  return static_cast<int32_t>(t.bytes / element_bytes(t.dtype));
}
bool same_sizes(const Tensor& a, const Tensor& b);
bool has_order(const Tensor& t, const uint8_t* order);
/// Returns true if the dim_order of a tensor of rank 4 equals `order`, one dimension per byte, the
/// first in the low byte.
inline bool has_order4(const Tensor& t, uint32_t order) {
  uint32_t word;
  memcpy(&word, t.dim_order, sizeof word);
  return word == order;
}
bool is_nhwc_but_for_ones(const Tensor& t);
bool is_contiguous_but_for_ones(const Tensor& t);
/// Returns true if the tensor has rank 4 and its channels are innermost.
inline bool is_nhwc(const Tensor& t) {
  return t.rank == 4 && (has_order4(t, 0x01030200) || is_nhwc_but_for_ones(t));
}
/// Checks that `t` is an int8 image with its channels innermost.
Status check_image(const Tensor& t, StockSignature form);
/// Returns true if the memory order is the logical order.
inline bool is_contiguous(const Tensor& t) {
  return (t.rank == 4 && has_order4(t, 0x03020100)) || is_contiguous_but_for_ones(t);
}
/// Returns true if both have the same sizes and element k in memory is the same element of both.
bool same_layout(const Tensor& a, const Tensor& b);
/// Writes the distance in elements between neighbours along each logical dimension. kMaxRank
/// entries are written; unused ones are 0.
void strides(const Tensor& t, int32_t* out);

inline bool is_code(int32_t value) {
  return value >= -128 && value <= 127;
}  // also valid for a zero point
inline bool is_offset(int32_t value) {
  return value >= -127 && value <= 128;
}  // -zero point
inline bool are_bounds(int32_t min, int32_t max) {
  return is_code(min) && is_code(max) && min <= max;
}
inline bool is_scale(int32_t mult, int32_t shift) {
  return mult >= 0 && numerics::shift_in_range(shift);
}

}  // namespace thimble::kernels
