#include "kernels/args/requant.h"

namespace thimble::kernels {

Status check_requant(const Requant& requant, int32_t channels) {
  if (!are_bounds(requant.min, requant.max)) return Status::kBadParameter;
  if (!is_code(requant.y_offset)) return Status::kBadParameter;
  for (int32_t o = 0; o < channels; ++o) {
    if (!is_scale(requant.mult[o * requant.mult_step], requant.shift[o * requant.shift_step])) {
      return Status::kBadParameter;
    }
  }
  return Status::kOk;
}

Status check_stock_scales(const Tensor& mult, const Tensor& shift, int32_t channels) {
  const Tensor* const both[] = {&mult, &shift};
  for (const Tensor* t : both) {
    if (const Status s = check_tensor(*t, DType::kI32); s != Status::kOk) return s;
    if (!t->is_constant) return Status::kBadParameter;
    if (elements(*t) != channels) return Status::kBadShape;
  }
  // Only the low byte is read later: the whole word must be in range.
  for (int32_t o = 0; o < channels; ++o) {
    if (!numerics::shift_in_range(words(shift)[o])) return Status::kBadParameter;
  }
  return Status::kOk;
}

Status check_bias(const Tensor& bias, int32_t channels) {
  if (bias.is_null) return Status::kOk;
  if (const Status s = check_tensor(bias, DType::kI32); s != Status::kOk) return s;
  return elements(bias) == channels ? Status::kOk : Status::kBadShape;
}

const int8_t* bind_packed(const Tensor& params, uint32_t header_bytes, int32_t channels,
                          int32_t scales, Requant& requant) {
  const int8_t* at = codes(params) + header_bytes;
  requant.bias = reinterpret_cast<const int32_t*>(at);
  requant.mult = requant.bias + channels;
  requant.shift = reinterpret_cast<const int8_t*>(requant.mult + scales);
  requant.mult_step = scales == channels ? 1 : 0;
  requant.shift_step = requant.mult_step;
  return requant.shift + (scales + 3) / 4 * 4;
}

int64_t packed_bytes(uint32_t header_bytes, int64_t channels, int64_t scales,
                     int64_t weights_bytes) {
  return header_bytes + (channels + scales) * 4 + (scales + 3) / 4 * 4 + weights_bytes;
}

Status check_packed(const Tensor& params, int64_t bytes) {
  if (const Status s = check_blob(params, bytes); s != Status::kOk) return s;
  if (bytes > kMaxTensorBytes) return Status::kBadShape;
  return params.bytes < bytes + abi::kConstantAlignment ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
