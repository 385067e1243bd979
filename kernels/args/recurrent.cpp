// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/recurrent.h"

#include "abi/int4.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"

namespace thimble::kernels {
namespace {

/// Maximum number of products of 16-bit values in a sum that requantize64 accepts.
constexpr int64_t kWideTermsMax = (numerics::kRequantize64SumMax - 1) / (32768 * 128);

const abi::RecurrentParams& params_of(const Call& call, const RecurrentSignature& form) {
  return *static_cast<const abi::RecurrentParams*>(tensor(call, form.params()).data);
}

bool is_narrow(const Call& call) {
  return tensor(call, 0).dtype == DType::kI8;
}

bool has_sizes(const Tensor& t, int32_t a, int32_t b) {
  return t.rank == 2 && t.sizes[0] == a && t.sizes[1] == b;
}
bool has_sizes(const Tensor& t, int32_t a, int32_t b, int32_t c) {
  return t.rank == 3 && t.sizes[0] == a && t.sizes[1] == b && t.sizes[2] == c;
}

Status check_types(const Call& call, const RecurrentSignature& form) {
  const auto type_of = [&](uint32_t i) {
    if (i == form.w_ih() || i == form.w_ih() + 1) return form.int4 ? DType::kU8 : DType::kI8;
    if (i == form.mult() + 1 && form.int4) return DType::kI8;
    if (i <= 1) return tensor(call, 0).dtype;
    return i == form.mult() + 2 ? DType::kI16 : DType::kI32;
  };
  for (uint32_t i = 0; i <= form.y(); ++i) {
    const Tensor& t = tensor(call, i);
    if (i == form.params() || i == form.scratch()) continue;
    const bool any = i == form.y() || (i > 1 && i < form.w_ih());
    THIMBLE_RETURN_IF_ERROR(any ? check_tensor(t) : check_tensor(t, type_of(i)));
    if (!is_contiguous(t)) return Status::kBadDimOrder;
  }
  if (is_narrow(call)) return Status::kOk;
  return tensor(call, 0).dtype == DType::kI16 && !form.int4 ? Status::kOk : Status::kBadDType;
}

Status check_shapes(const Call& call, const RecurrentSignature& form) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w_hh = tensor(call, form.w_ih() + 1);
  if (x.rank != 3 || w_hh.rank != 2) return Status::kBadShape;
  const int32_t hidden = w_hh.sizes[1];
  const int32_t inputs = x.sizes[2];
  const int64_t terms_max = is_narrow(call) ? abi::kMaxAccumulations : kWideTermsMax;
  if (hidden > terms_max || inputs > terms_max) return Status::kBadShape;
  // The product below cannot overflow, because `hidden` is at most terms_max.
  const int32_t rows = form.gates * hidden;
  const int32_t stored = form.int4 ? static_cast<int32_t>(abi::int4_row_pairs(rows)) : rows;
  bool fits = w_hh.sizes[0] == stored && has_sizes(tensor(call, form.w_ih()), stored, inputs) &&
              has_sizes(tensor(call, form.y()), x.sizes[0], x.sizes[1], hidden);
  for (uint32_t i = 1; i <= form.states; ++i) {
    fits = fits && has_sizes(tensor(call, i), 1, x.sizes[1], hidden);
  }
  for (uint32_t i = 0; i < form.biases; ++i) {
    const Tensor& bias = tensor(call, form.w_ih() + 2 + i);
    fits = fits && bias.rank == 1 && bias.sizes[0] == rows;
  }
  const Tensor& table = tensor(call, form.mult() + 2);
  fits = fits && table.rank == 1 && table.sizes[0] == numerics::kTanhEntries;
  const Tensor& mult = tensor(call, form.mult());
  fits = fits && (has_sizes(mult, 2, form.gates) || has_sizes(mult, 2, rows)) &&
         same_sizes(mult, tensor(call, form.mult() + 1));
  return fits ? Status::kOk : Status::kBadShape;
}

Status check_numbers(const Call& call, const RecurrentSignature& form) {
  const Tensor& mult = tensor(call, form.mult());
  const Tensor& shift = tensor(call, form.mult() + 1);
  if (!mult.is_constant || !shift.is_constant) return Status::kBadParameter;
  for (int32_t i = 0; i < elements(mult); ++i) {
    const int32_t m = static_cast<const int32_t*>(mult.data)[i];
    const int32_t s = form.int4 ? codes(shift)[i] : static_cast<const int32_t*>(shift.data)[i];
    if (is_narrow(call) ? !is_scale(m, s) : !is_scale16(m, s)) return Status::kBadParameter;
  }
  THIMBLE_RETURN_IF_ERROR(check_blob(tensor(call, form.params()), form.params_bytes));
  const abi::RecurrentParams& p = params_of(call, form);
  const bool zero_points =
      is_narrow(call) ? is_code(p.x_zp) && is_code(p.h_zp) : p.x_zp == 0 && p.h_zp == 0;
  const bool fine = zero_points && is_scale(p.h_mult, p.h_shift);
  return fine ? Status::kOk : Status::kBadParameter;
}

}  // namespace

Status check_recurrent(const Call& call, const RecurrentSignature& form) {
  THIMBLE_RETURN_IF_ERROR(check_types(call, form));
  THIMBLE_RETURN_IF_ERROR(check_shapes(call, form));
  THIMBLE_RETURN_IF_ERROR(check_numbers(call, form));
  const Tensor& scratch = tensor(call, form.scratch());
  if (scratch.is_null || scratch.is_constant) return Status::kBadParameter;
  if (reinterpret_cast<uintptr_t>(scratch.data) % alignof(int16_t) != 0) {
    return Status::kMisaligned;
  }
  const int64_t wanted = abi::recurrent_scratch_bytes(
      form.lanes, tensor(call, form.w_ih() + 1).sizes[1], element_bytes(tensor(call, 0).dtype));
  return scratch.bytes >= wanted ? Status::kOk : Status::kScratchTooSmall;
}

Recurrent bind_recurrent(const Call& call, const RecurrentSignature& form) {
  const auto words_at = [&](uint32_t i) {
    return static_cast<const int32_t*>(tensor(call, i).data);
  };
  const Tensor& x = tensor(call, 0);
  Recurrent r;
  r.x = x.data;
  r.h0 = tensor(call, 1).data;
  r.w_ih = tensor(call, form.w_ih()).data;
  r.w_hh = tensor(call, form.w_ih() + 1).data;
  r.bias = words_at(form.w_ih() + 2);
  r.bias_hh = form.biases == 2 ? words_at(form.w_ih() + 3) : nullptr;
  r.mult = words_at(form.mult());
  r.shift = tensor(call, form.mult() + 1).data;
  r.table = static_cast<const int16_t*>(tensor(call, form.mult() + 2).data);
  r.params = tensor(call, form.params()).data;
  r.steps = x.sizes[0];
  r.batch = x.sizes[1];
  r.inputs = x.sizes[2];
  r.hidden = tensor(call, form.y()).sizes[2];
  r.rows = form.gates * r.hidden;
  r.entries = tensor(call, form.mult()).sizes[1];
  r.rows_per_entry = r.rows / r.entries;
  const abi::RecurrentParams& p = params_of(call, form);
  r.x_offset = -p.x_zp;
  r.h_zp = p.h_zp;
  r.h_mult = p.h_mult;
  r.h_shift = p.h_shift;
  r.reverse = p.reverse != 0;
  r.lanes = static_cast<int16_t*>(tensor(call, form.scratch()).data);
  r.h = r.lanes + form.lanes * r.hidden;
  return r;
}

}  // namespace thimble::kernels
