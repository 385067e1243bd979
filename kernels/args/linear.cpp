// SPDX-License-Identifier: Apache-2.0
// Stock operands: x, w, bias?, kernel_sum?, x_offset, filter_offset (0), y_offset, mults, shifts,
// max, min, y. The maximum precedes the minimum. Files for MVE cores have kernel_sum[o] = bias[o] +
// x_offset * sum of w[o]; at most one of kernel_sum and bias is present. Lists have one entry, or
// one per output.
//
// Native operands: x, LinearParams constant, y.

#include "kernels/args/linear.h"

#include "abi/ops/linear.h"
#include "abi/ops/stock.h"
#include "abi/params/linear.h"

namespace thimble::kernels {
namespace {

int32_t last_size(const Tensor& t) {
  return t.sizes[t.rank - 1];
}

Status check_activations(const Tensor& x, const Tensor& y) {
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
    if (t->rank < 1) return Status::kBadShape;
    if (!is_contiguous(*t)) return Status::kBadDimOrder;
  }
  const bool rows_agree = elements(x) / last_size(x) == elements(y) / last_size(y);
  return rows_agree && last_size(x) <= abi::kMaxAccumulations ? Status::kOk : Status::kBadShape;
}

void bind_activations(const Tensor& x, const Tensor& y, Linear& linear) {
  linear.x = codes(x);
  linear.y = mutable_codes(y);
  linear.in = last_size(x);
  linear.out = last_size(y);
  linear.rows = elements(x) / linear.in;
}

Status check_scale_lists(const IntList& mults, const IntList& shifts, int32_t out) {
  const IntList* const both[] = {&mults, &shifts};
  for (const IntList* list : both) {
    const bool one_each =
        list->count <= abi::kMaxIntList && list->count == static_cast<uint32_t>(out);
    if (list->count != 1 && !one_each) return Status::kBadParameter;
  }
  // check_requant() reads only the low byte of a single shift.
  const bool in_range = shifts.count != 1 || numerics::shift_in_range(shifts.items[0]);
  return in_range ? Status::kOk : Status::kBadParameter;
}

/// Binds everything except the arrays after the header; the caller must first check their size.
Linear bind_header(const Call& call) {
  Linear linear;
  const auto header = read_params<abi::op_info::thimble_linear>(tensor(call, 1));
  bind_activations(tensor(call, 0), tensor(call, 2), linear);
  linear.x_offset = header.x_offset;
  linear.requant.y_offset = header.y_offset;
  linear.requant.min = header.min;
  linear.requant.max = header.max;
  return linear;
}

}  // namespace

Status check_stock_linear(const Call& call) {
  const Tensor& y = tensor(call, 11);
  const Tensor& w = tensor(call, 1);
  constexpr abi::PteOpInfo kOp = abi::op_info::cortex_m_quantized_linear;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_activations(tensor(call, 0), y));
  THIMBLE_RETURN_IF_ERROR(check_tensor(w, DType::kI8));
  if (w.rank != 2 || w.sizes[0] != last_size(y) || w.sizes[1] != last_size(tensor(call, 0))) {
    return Status::kBadShape;
  }
  if (!is_contiguous(w)) return Status::kBadDimOrder;
  for (uint32_t optional = 2; optional <= 3; ++optional)
    THIMBLE_RETURN_IF_ERROR(check_bias(tensor(call, optional), last_size(y)));
  if (!tensor(call, 2).is_null && !tensor(call, 3).is_null) return Status::kBadParameter;
  if (!is_offset(integer(call, 4)) || integer(call, 5) != 0) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_scale_lists(ints(call, 7), ints(call, 8), last_size(y)));
  return check_requant(bind_stock_linear(call).requant, last_size(y));
}

Linear bind_stock_linear(const Call& call) {
  Linear linear;
  bind_activations(tensor(call, 0), tensor(call, 11), linear);
  linear.w = codes(tensor(call, 1));
  const bool has_kernel_sum = !tensor(call, 3).is_null;
  linear.x_offset = has_kernel_sum ? 0 : integer(call, 4);
  linear.requant.bias = words(tensor(call, has_kernel_sum ? 3 : 2));
  linear.requant.mult = ints(call, 7).items;
  linear.requant.shift = reinterpret_cast<const int8_t*>(ints(call, 8).items);
  linear.requant.mult_step = ints(call, 7).count == 1 ? 0 : 1;
  linear.requant.shift_step = ints(call, 8).count == 1 ? 0 : 4;
  linear.requant.y_offset = integer(call, 6);
  linear.requant.max = integer(call, 9);
  linear.requant.min = integer(call, 10);
  return linear;
}

Status check_native_linear(const Call& call) {
  const Tensor& params = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_activations(tensor(call, 0), tensor(call, 2)));
  THIMBLE_RETURN_IF_ERROR(check_blob(params, sizeof(abi::ParamsOf<abi::op_info::thimble_linear>)));
  const auto header = read_params<abi::op_info::thimble_linear>(params);
  const Linear linear = bind_header(call);
  if (header.in_features != linear.in || header.out_features != linear.out) {
    return Status::kBadShape;
  }
  if (header.scales != 1 && header.scales != linear.out) return Status::kBadParameter;
  if (!is_offset(linear.x_offset)) return Status::kBadParameter;
  const int64_t weights = int64_t{linear.in} * linear.out;
  THIMBLE_RETURN_IF_ERROR(
      check_packed(params, packed_bytes(sizeof header, linear.out, header.scales, weights)));
  return check_requant(bind_native_linear(call).requant, linear.out);
}

Linear bind_native_linear(const Call& call) {
  Linear linear = bind_header(call);
  const auto header = read_params<abi::op_info::thimble_linear>(tensor(call, 1));
  linear.w = bind_packed(tensor(call, 1), sizeof header, linear.out, header.scales, linear.requant);
  return linear;
}

}  // namespace thimble::kernels
