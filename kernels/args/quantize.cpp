// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/quantize.h"

namespace thimble::kernels {

Status check_quantize_args(const Call& call, const Tensor& y, DType from, DType to) {
  const Tensor& x = tensor(call, 0);
  const double scale = call.args[1].number;
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, from));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, to));
  if (!same_sizes(x, y)) return Status::kBadShape;
  // A normal float32 whose inverse is normal too. The condition is false for NaN.
  if (!(scale >= 0x1p-126 && scale <= 0x1p126)) return Status::kBadParameter;
  return is_code(integer(call, 2)) ? Status::kOk : Status::kBadParameter;
}

Status check_stock_quantize_args(const Call& call, DType from, DType to) {
  const Tensor& y = tensor(call, 6);
  THIMBLE_RETURN_IF_ERROR(check_quantize_args(call, y, from, to));
  if (!same_layout(tensor(call, 0), y)) return Status::kBadDimOrder;
  if (!are_bounds(integer(call, 3), integer(call, 4))) return Status::kBadParameter;
  const bool is_int8 = integer(call, 5) == static_cast<int32_t>(DType::kI8);
  return is_int8 ? Status::kOk : Status::kBadDType;
}

QuantizeArgs bind_quantize_args(const Call& call, uint32_t y_index) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, y_index);
  QuantizeArgs edge;
  edge.x = x.data;
  edge.y = y.data;
  edge.scale = static_cast<float>(call.args[1].number);
  edge.zero_point = integer(call, 2);
  int32_t steps_x[abi::kMaxRank];
  int32_t steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    edge.iterator.push(y.sizes[d], steps_y[d], steps_x[d]);
  }
  return edge;
}

}  // namespace thimble::kernels
