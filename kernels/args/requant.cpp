// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/requant.h"

namespace thimble::kernels {
namespace {

// These two loops take a large part of the time to load a file, so they contain no branches.

/// Returns the bitwise or of `bits_of` over `count` values.
template <typename Value, typename Bits>
inline uint32_t collect(const Value* values, int32_t count, Bits bits_of) {
  uint32_t bits = 0;
  const Value* const end = values + count;
  const Value* const last = values + (count & ~7);
  for (; values != last; values += 8) {
    bits |= bits_of(values[0]) | bits_of(values[1]) | bits_of(values[2]) | bits_of(values[3]);
    bits |= bits_of(values[4]) | bits_of(values[5]) | bits_of(values[6]) | bits_of(values[7]);
  }
  for (; values != end; ++values) bits |= bits_of(*values);
  return bits;
}

bool are_multipliers(const int32_t* mult, int32_t count) {
  const auto word = [](int32_t value) { return static_cast<uint32_t>(value); };
  return collect(mult, count, word) <= INT32_MAX;
}

/// A shift is in -16..-1 exactly if all its bits except the last four are set; nearly all shifts
/// are in this range. Only if others exist, each shift is checked individually.
template <typename Shift>
bool are_shifts(const Shift* shift, int32_t count) {
  const auto clear = [](int32_t value) { return ~static_cast<uint32_t>(value); };
  if (collect(shift, count, clear) < 16) return true;
  for (int32_t i = 0; i < count; ++i) {
    if (!numerics::shift_in_range(shift[i])) return false;
  }
  return true;
}

}  // namespace

Status check_requant(const Requant& requant, int32_t channels) {
  if (!are_bounds(requant.min, requant.max)) return Status::kBadParameter;
  if (!is_code(requant.y_offset)) return Status::kBadParameter;
  const bool mults = are_multipliers(requant.mult, requant.mult_step == 0 ? 1 : channels);
  // run() reads only the low byte of a word, but the whole word must be in range.
  const bool shifts = requant.shift_step == 4
                          ? are_shifts(reinterpret_cast<const int32_t*>(requant.shift), channels)
                          : are_shifts(requant.shift, requant.shift_step == 0 ? 1 : channels);
  return mults && shifts ? Status::kOk : Status::kBadParameter;
}

Status check_stock_scales(const Tensor& mult, const Tensor& shift, int32_t channels) {
  const Tensor* const both[] = {&mult, &shift};
  for (const Tensor* t : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI32));
    if (!t->is_constant) return Status::kBadParameter;
    if (t->bytes / sizeof(int32_t) != static_cast<uint32_t>(channels)) return Status::kBadShape;
  }
  return Status::kOk;
}

Status check_bias(const Tensor& bias, int32_t channels) {
  if (bias.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kI32));
  const uint32_t count = bias.bytes / sizeof(int32_t);
  return count == static_cast<uint32_t>(channels) ? Status::kOk : Status::kBadShape;
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
  THIMBLE_RETURN_IF_ERROR(check_blob(params, bytes));
  if (bytes > kMaxTensorBytes) return Status::kBadShape;
  return params.bytes < bytes + abi::kConstantAlignment ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
