#pragma once
// Checks and small questions about operands that every kernel family asks.
//
// Two orders of dimensions are the same to a kernel when they differ only in where dimensions of
// size 1 stand: the bytes are identical. All layout questions below are asked in that sense.

#include <bit>
#include <cstdint>
#include <cstring>

#include "abi/pte_ops.h"
#include "kernels/kernels.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {

inline const Tensor& tensor(const Call& call, uint32_t i) {
  return call.args[i].tensor;
}
inline const IntList& ints(const Call& call, uint32_t i) {
  return call.args[i].ints;
}
/// Valid after integers_fit().
inline int32_t integer(const Call& call, uint32_t i) {
  return static_cast<int32_t>(call.args[i].integer);
}
inline const int8_t* codes(const Tensor& t) {
  return static_cast<const int8_t*>(t.data);
}
inline int8_t* mutable_codes(const Tensor& t) {
  return static_cast<int8_t*>(t.data);
}

/// Forms of the stock image operators: with scratch as its last input, as releases before it had
/// them, and with images whose logical order is N, H, W, C.
enum class StockForm : uint8_t { kCurrent, kNoScratch, kNhwc };
/// Where batch, height, width and channels stand among an image's sizes.
struct ImageDims {
  uint8_t height, width, channels;
};
constexpr ImageDims image_dims(StockForm form) {
  return form == StockForm::kNhwc ? ImageDims{1, 2, 3} : ImageDims{2, 3, 1};
}

/// Bytes of one element; 0 for a type that no kernel knows.
uint32_t element_bytes(DType dtype);

/// Which arguments of an operator are `i` or `b`.
struct Letters {
  uint32_t integers = 0;  // a bit for each
};
consteval Letters letters(abi::PteOp op) {
  Letters letters;
  const char* const all = abi::info(op).arguments;
  for (uint32_t i = 0; all[i] != '\0'; ++i) {
    if (all[i] == 'i' || all[i] == 'b') letters.integers |= 1U << i;
  }
  return letters;
}
/// Every `i` and `b` argument fits 32 bits. `letters` are those of the call's operator.
inline bool integers_fit(const Call& call, Letters letters) {
  uint32_t wrong = 0;
  for (uint32_t rest = letters.integers; rest != 0; rest &= rest - 1) {
    const int64_t integer = call.args[std::countr_zero(rest)].integer;
    wrong |= static_cast<uint32_t>(integer >> 32) ^
             static_cast<uint32_t>(static_cast<int32_t>(integer) >> 31);
  }
  return wrong == 0;
}

/// Present, rank within limits, dim_order a permutation, sizes positive, `bytes` their product,
/// data aligned (or not known yet, unless constant).
Status check_unknown_tensor(const Tensor& t);
inline Status check_tensor(const Tensor& t) {
  return t.is_sound ? Status::kOk : check_unknown_tensor(t);
}
inline Status check_tensor(const Tensor& t, DType dtype) {
  if (!t.is_null && t.dtype != dtype) return Status::kBadDType;
  return check_tensor(t);
}
/// A constant whose values run() reads as 32-bit words: at least `bytes` long and aligned.
Status check_blob(const Tensor& t, int64_t bytes);

inline int32_t elements(const Tensor& t) {
  return static_cast<int32_t>(t.bytes / element_bytes(t.dtype));
}
bool same_sizes(const Tensor& a, const Tensor& b);
bool has_order(const Tensor& t, const uint8_t* order);
/// Whether the dimensions of a tensor of rank 4 stand in just this order, the first in the low
/// byte.
inline bool has_order4(const Tensor& t, uint32_t order) {
  uint32_t word;
  memcpy(&word, t.dim_order, sizeof word);
  return word == order;
}
bool is_nhwc_but_for_ones(const Tensor& t);
bool is_contiguous_but_for_ones(const Tensor& t);
/// Rank 4, channels innermost.
inline bool is_nhwc(const Tensor& t) {
  return t.rank == 4 && (has_order4(t, 0x01030200) || is_nhwc_but_for_ones(t));
}
/// An image of int8 codes with its channels innermost.
Status check_image(const Tensor& t, StockForm form);
/// Last dimension innermost, and so on.
inline bool is_contiguous(const Tensor& t) {
  return (t.rank == 4 && has_order4(t, 0x03020100)) || is_contiguous_but_for_ones(t);
}
/// Same sizes, and element k of the one memory is element k of the other.
bool same_layout(const Tensor& a, const Tensor& b);
/// Elements between neighbours along each logical dimension; kMaxRank entries are written, unused
/// ones as 0.
void strides(const Tensor& t, int32_t* out);

inline bool is_code(int32_t value) {
  return value >= -128 && value <= 127;
}  // also: a zero point
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
