// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/operands.h"

namespace thimble::kernels {

uint32_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::kU8:
    case DType::kI8:
    case DType::kBool:
      return 1;
    case DType::kI16:
      return 2;
    case DType::kI32:
    case DType::kF32:
      return 4;
    case DType::kI64:
      return 8;
  }
  return 0;
}

Status verify_tensor(const Tensor& t) {
  const uint32_t element = element_bytes(t.dtype);
  if (t.is_null) return Status::kBadParameter;
  if (element == 0) return Status::kBadDType;
  if (t.rank > abi::kMaxRank) return Status::kBadShape;
  const uint32_t rank = t.rank;
  uint32_t seen = 0;
  uint32_t bytes = element;
  for (uint32_t d = 0; d < rank; ++d) {
    const uint32_t place = t.dim_order[d];
    if (place >= rank) return Status::kBadDimOrder;
    seen |= 1U << place;
    if (t.sizes[d] < 1) return Status::kBadShape;
    const uint64_t more = uint64_t{bytes} * static_cast<uint32_t>(t.sizes[d]);
    if (more > kMaxTensorBytes) return Status::kBadShape;
    bytes = static_cast<uint32_t>(more);
  }
  if (seen != (1U << t.rank) - 1) return Status::kBadDimOrder;
  if (bytes != t.bytes) return Status::kBadShape;
  if (t.is_constant && t.data == nullptr) return Status::kBadParameter;
  // `element` is a power of two.
  if ((reinterpret_cast<uintptr_t>(t.data) & (element - 1)) != 0) return Status::kMisaligned;
  return Status::kOk;
}

Status check_blob(const Tensor& t, int64_t bytes) {
  if (t.is_null || !t.is_constant || t.data == nullptr) return Status::kBadParameter;
  if (reinterpret_cast<uintptr_t>(t.data) % sizeof(int32_t) != 0) return Status::kMisaligned;
  return t.bytes >= bytes ? Status::kOk : Status::kBadParameter;
}

bool same_sizes(const Tensor& a, const Tensor& b) {
  if (a.rank != b.rank) return false;
  for (uint32_t d = 0; d < a.rank; ++d) {
    if (a.sizes[d] != b.sizes[d]) return false;
  }
  return true;
}

bool has_order(const Tensor& t, const uint8_t* order) {
  uint32_t same = 0;
  while (same < t.rank && t.dim_order[same] == order[same]) ++same;
  if (same == t.rank) return true;
  uint32_t i = same;
  uint32_t k = same;
  for (;;) {
    while (i < t.rank && t.sizes[t.dim_order[i]] == 1) ++i;
    while (k < t.rank && t.sizes[order[k]] == 1) ++k;
    if (i == t.rank || k == t.rank) return i == k;
    if (t.dim_order[i++] != order[k++]) return false;
  }
}

bool is_nhwc_but_for_ones(const Tensor& t) {
  static constexpr uint8_t kOrder[] = {0, 2, 3, 1};
  return has_order(t, kOrder);
}

Status check_image(const Tensor& t, StockSignature form) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kI8));
  if (t.rank != 4) return Status::kBadShape;
  const bool fits = form == StockSignature::kNhwc ? is_contiguous(t) : is_nhwc(t);
  return fits ? Status::kOk : Status::kBadDimOrder;
}

bool is_contiguous_but_for_ones(const Tensor& t) {
  static constexpr uint8_t kOrder[] = {0, 1, 2, 3, 4, 5};
  static_assert(sizeof(kOrder) == abi::kMaxRank);
  return has_order(t, kOrder);
}

bool same_layout(const Tensor& a, const Tensor& b) {
  return same_sizes(a, b) && has_order(a, b.dim_order);
}

void strides(const Tensor& t, int32_t* out) {
  for (uint32_t d = 0; d < abi::kMaxRank; ++d) out[d] = 0;
  int32_t run = 1;
  for (uint32_t p = t.rank; p-- > 0;) {
    out[t.dim_order[p]] = run;
    run *= t.sizes[t.dim_order[p]];
  }
}

}  // namespace thimble::kernels
