// Stock operands of add: a, a_zp, a_mult, a_shift, b, b_zp, b_mult, b_shift, y_zp, y_mult, y_shift,
// min, max, y. Of mul: a, a_zp, b, b_zp, y_zp, mult, shift, y. Zero points are positive.
//
// Native operands: a, b, AddParams or MulParams constant, y.

#include "kernels/args/elementwise.h"

namespace thimble::kernels {
namespace {

/// Step of `t` along dimension d of an output of rank `rank`; shapes align at the last dimension.
int32_t broadcast_step(const Tensor& t, const int32_t* steps, uint32_t rank, uint32_t d) {
  const uint32_t missing = rank - t.rank;
  return d < missing || t.sizes[d - missing] == 1 ? 0 : steps[d - missing];
}

int32_t broadcast_size(const Tensor& t, uint32_t rank, uint32_t d) {
  const uint32_t missing = rank - t.rank;
  return d < missing ? 1 : t.sizes[d - missing];
}

}  // namespace

Status check_binary(const Tensor& a, const Tensor& b, const Tensor& y) {
  const Tensor* const all[] = {&a, &b, &y};
  for (const Tensor* t : all) {
    if (const Status s = check_tensor(*t, DType::kI8); s != Status::kOk) return s;
  }
  if (a.rank > y.rank || b.rank > y.rank) return Status::kBadShape;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const int32_t size_a = broadcast_size(a, y.rank, d);
    const int32_t size_b = broadcast_size(b, y.rank, d);
    if (size_a != size_b && size_a != 1 && size_b != 1) return Status::kBadShape;
    if (y.sizes[d] != (size_a == 1 ? size_b : size_a)) return Status::kBadShape;
  }
  return Status::kOk;
}

Binary bind_binary(const Tensor& a, const Tensor& b, const Tensor& y) {
  Binary binary;
  binary.a = codes(a);
  binary.b = codes(b);
  binary.y = mutable_codes(y);
  int32_t steps_y[abi::kMaxRank];
  int32_t steps_a[abi::kMaxRank];
  int32_t steps_b[abi::kMaxRank];
  strides(y, steps_y);
  strides(a, steps_a);
  strides(b, steps_b);
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    binary.walk.push(y.sizes[d], steps_y[d], broadcast_step(a, steps_a, y.rank, d),
                     broadcast_step(b, steps_b, y.rank, d));
  }
  return binary;
}

Status check_add(const abi::AddParams& params) {
  const bool fine =
      is_offset(params.a_offset) && is_offset(params.b_offset) && is_code(params.y_offset) &&
      are_bounds(params.min, params.max) && is_scale(params.a_mult, params.a_shift) &&
      is_scale(params.b_mult, params.b_shift) && is_scale(params.y_mult, params.y_shift) &&
      (params.b_negate == 0 || params.b_negate == 1);
  return fine ? Status::kOk : Status::kBadParameter;
}

Status check_mul(const abi::MulParams& params) {
  const bool fine = is_offset(params.a_offset) && is_offset(params.b_offset) &&
                    is_code(params.y_offset) && are_bounds(params.min, params.max) &&
                    is_scale(params.mult, params.shift);
  return fine ? Status::kOk : Status::kBadParameter;
}

abi::AddParams stock_add_params(const Call& call) {
  abi::AddParams params;
  params.a_offset = numerics::wrap_sub(0, integer(call, 1));
  params.a_mult = integer(call, 2);
  params.a_shift = integer(call, 3);
  params.b_offset = numerics::wrap_sub(0, integer(call, 5));
  params.b_mult = integer(call, 6);
  params.b_shift = integer(call, 7);
  params.y_offset = integer(call, 8);
  params.y_mult = integer(call, 9);
  params.y_shift = integer(call, 10);
  params.min = integer(call, 11);
  params.max = integer(call, 12);
  params.b_negate = 0;
  return params;
}

abi::MulParams stock_mul_params(const Call& call) {
  abi::MulParams params;
  params.a_offset = numerics::wrap_sub(0, integer(call, 1));
  params.b_offset = numerics::wrap_sub(0, integer(call, 3));
  params.y_offset = integer(call, 4);
  params.mult = integer(call, 5);
  params.shift = integer(call, 6);
  params.min = -128;
  params.max = 127;
  return params;
}

}  // namespace thimble::kernels
