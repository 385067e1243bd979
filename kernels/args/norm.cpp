// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/norm_impl.h"
#include "kernels/args/reduction.h"

namespace thimble::kernels {
namespace {
constexpr int32_t kBiasMax = 1 << 30;
}  // namespace

THIMBLE_NORM_ROWS(int8_t);

uint64_t Norm::eps_of(int32_t mantissa, int32_t exponent) {
  constexpr int32_t kEpsShiftMax = 30;
  const bool fine = mantissa >= 0 && exponent >= 0 && exponent <= kEpsShiftMax;
  return fine ? static_cast<uint64_t>(mantissa) << exponent : uint64_t{1} << 63;
}

Status check_norm_entries(const Tensor& w, const Tensor& b, int32_t entries) {
  if (!w.is_null) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(w, DType::kI16));
    if (!is_contiguous(w)) return Status::kBadDimOrder;
    if (elements(w) != entries) return Status::kBadShape;
  }
  if (b.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(b, DType::kI32));
  if (!is_contiguous(b)) return Status::kBadDimOrder;
  if (!b.is_constant) return Status::kBadParameter;
  if (elements(b) != entries) return Status::kBadShape;
  const auto* values = static_cast<const int32_t*>(b.data);
  for (int32_t i = 0; i < entries; ++i) {
    if (values[i] < -kBiasMax || values[i] > kBiasMax) return Status::kBadParameter;
  }
  return Status::kOk;
}

Status check_trailing(const Tensor& x, uint32_t dims, int32_t longest) {
  if (dims < 1 || dims > x.rank) return Status::kBadParameter;
  if (!is_contiguous(x)) return Status::kBadDimOrder;
  const uint32_t mask = ((1U << dims) - 1) << (x.rank - dims);
  return reduced_count(x, mask) <= longest ? Status::kOk : Status::kBadShape;
}

}  // namespace thimble::kernels
