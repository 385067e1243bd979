#pragma once
// Checks and small questions about operands that every kernel family asks.
//
// Two orders of dimensions are the same to a kernel when they differ only in where dimensions of
// size 1 stand: the bytes are identical. All layout questions below are asked in that sense.

#include <cstdint>

#include "abi/pte_ops.h"
#include "kernels/kernels.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {

/// Above this, sums of strides could leave 32 bits. No Cortex-M has such a memory.
inline constexpr uint32_t kMaxTensorBytes = 1U << 29;

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

/// Bytes of one element; 0 for a type that no kernel knows.
uint32_t element_bytes(DType dtype);

/// Every `i` and `b` argument fits 32 bits. `letters` are those of the call's operator.
bool integers_fit(const Call& call, const char* letters);
consteval const char* letters(abi::PteOp op) {
  return abi::info(op).arguments;
}

/// Present, rank within limits, dim_order a permutation, sizes positive, `bytes` their product,
/// data aligned (or not known yet, unless constant).
Status check_tensor(const Tensor& t);
Status check_tensor(const Tensor& t, DType dtype);
/// A constant whose values run() reads as 32-bit words: at least `bytes` long and aligned.
Status check_blob(const Tensor& t, int64_t bytes);

inline int32_t elements(const Tensor& t) {
  return static_cast<int32_t>(t.bytes / element_bytes(t.dtype));
}
bool same_sizes(const Tensor& a, const Tensor& b);
bool has_order(const Tensor& t, const uint8_t* order);
bool is_nhwc(const Tensor& t);        // rank 4, channels innermost
bool is_contiguous(const Tensor& t);  // last dimension innermost, and so on
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
