// thimble::mean over any set of dimensions, in any order of dimensions; formula: docs/numerics.md,
// "Pools and reductions".
//
// Operands: x, MeanParams constant, y. y has the reduced dimensions as 1, or dropped.

#include <cstring>

#include "abi/native_params.h"
#include "kernels/args/operands.h"
#include "kernels/args/walk.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

/// 255 * this fits 31 bits: the sum of that many offset codes cannot overflow.
constexpr int64_t kMaxCount = INT32_MAX / 255;

abi::MeanParams params_of(const Call& call) {
  abi::MeanParams params;
  memcpy(&params, tensor(call, 1).data, sizeof params);
  return params;
}

/// The dimension of x that dimension d of y shows, or x.rank for a reduced one that y keeps as 1.
uint32_t source(const Tensor& x, const Tensor& y, uint32_t mask, uint32_t d) {
  if (y.rank == x.rank) return (mask >> d & 1) != 0 ? x.rank : d;
  for (uint32_t k = 0; k < x.rank; ++k) {
    if ((mask >> k & 1) != 0) continue;
    if (d-- == 0) return k;
  }
  return x.rank;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    if (const Status s = check_tensor(*t, DType::kI8); s != Status::kOk) return s;
  }
  if (const Status b = check_blob(tensor(call, 1), sizeof(abi::MeanParams)); b != Status::kOk) {
    return b;
  }
  const abi::MeanParams params = params_of(call);
  const bool fine = params.dims_mask != 0 && params.dims_mask < 1U << x.rank &&
                    is_offset(params.x_offset) && is_code(params.y_offset) &&
                    are_bounds(params.min, params.max) && is_scale(params.mult, params.shift);
  if (!fine) return Status::kBadParameter;
  uint32_t kept = 0;
  int64_t count = 1;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const bool reduced = (params.dims_mask >> d & 1) != 0;
    kept += reduced ? 0 : 1;
    if (reduced) count *= x.sizes[d];
  }
  if (y.rank != x.rank && y.rank != kept) return Status::kBadShape;
  if (count > kMaxCount) return Status::kBadShape;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const uint32_t k = source(x, y, params.dims_mask, d);
    if (y.sizes[d] != (k == x.rank ? 1 : x.sizes[k])) return Status::kBadShape;
  }
  return Status::kOk;
}

int32_t sum(const int8_t* x, Walk& reduced, int32_t x_offset) {
  int32_t total = 0;
  do {
    const Walk::Axis& row = reduced.row();
    const int8_t* at = x + reduced.offset[1];
    for (int32_t i = 0; i < row.extent; ++i) total += at[i * row.step[1]] + x_offset;
  } while (reduced.next());
  return total;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const abi::MeanParams params = params_of(call);
  int32_t steps_x[abi::kMaxRank];
  int32_t steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  Walk kept;
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    const uint32_t k = source(x, y, params.dims_mask, d);
    if (k != x.rank) kept.push(y.sizes[d], steps_y[d], steps_x[k]);
  }
  Walk reduced;
  for (uint32_t p = 0; p < x.rank; ++p) {
    const uint32_t d = x.dim_order[p];
    if ((params.dims_mask >> d & 1) != 0) reduced.push(x.sizes[d], 0, steps_x[d]);
  }
  do {
    const Walk::Axis& row = kept.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      const int8_t* from = codes(x) + kept.offset[1] + i * row.step[1];
      const int32_t scaled =
          numerics::requantize(sum(from, reduced, params.x_offset), params.mult, params.shift);
      const int32_t code = numerics::wrap_add(scaled, params.y_offset);
      mutable_codes(y)[kept.offset[0] + i] =
          static_cast<int8_t>(numerics::clamp(code, params.min, params.max));
    }
  } while (kept.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_mean, check, run);

}  // namespace thimble::kernels
