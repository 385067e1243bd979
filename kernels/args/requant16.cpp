// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/requant16.h"

namespace thimble::kernels {
namespace {

/// Checks an int32 tensor with one entry or one entry per channel.
Status check_entries(const Tensor& t, int32_t channels) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kI32));
  if (!t.is_constant) return Status::kBadParameter;
  const int32_t count = elements(t);
  return count == 1 || count == channels ? Status::kOk : Status::kBadShape;
}

Status check_wide_bias(const Tensor& bias, int32_t channels, int64_t terms) {
  constexpr int64_t kProductMax = int64_t{128} * 32768;
  if (terms >= numerics::kRequantize64SumMax / kProductMax) return Status::kBadShape;
  if (bias.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kI64));
  if (!bias.is_constant) return Status::kBadParameter;
  if (elements(bias) != channels) return Status::kBadShape;
  const int64_t most = numerics::kRequantize64SumMax - 1 - terms * kProductMax;
  const auto* values = static_cast<const int64_t*>(bias.data);
  for (int32_t i = 0; i < channels; ++i) {
    if (values[i] < -most || values[i] > most) return Status::kBadParameter;
  }
  return Status::kOk;
}

}  // namespace

Status check_requant16(const Tensor& bias, const Tensor& mult, const Tensor& shift,
                       int32_t channels, int64_t terms) {
  THIMBLE_RETURN_IF_ERROR(check_wide_bias(bias, channels, terms));
  THIMBLE_RETURN_IF_ERROR(check_entries(mult, channels));
  THIMBLE_RETURN_IF_ERROR(check_entries(shift, channels));
  const Requant16 requant = bind_wide_requant(bias, mult, shift, 0, 0);
  for (int32_t i = 0; i < channels; ++i) {
    if (!is_scale16(requant.mult[i * requant.mult_step], requant.shift[i * requant.shift_step])) {
      return Status::kBadParameter;
    }
  }
  return Status::kOk;
}

Requant16 bind_wide_requant(const Tensor& bias, const Tensor& mult, const Tensor& shift,
                            int32_t min, int32_t max) {
  Requant16 requant;
  if (!bias.is_null) requant.bias = static_cast<const int64_t*>(bias.data);
  requant.mult = static_cast<const int32_t*>(mult.data);
  requant.shift = static_cast<const int32_t*>(shift.data);
  requant.mult_step = elements(mult) == 1 ? 0 : 1;
  requant.shift_step = elements(shift) == 1 ? 0 : 1;
  requant.min = min;
  requant.max = max;
  return requant;
}

}  // namespace thimble::kernels
