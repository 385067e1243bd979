// SPDX-License-Identifier: Apache-2.0
// thimble::linear.i16; formula: docs/numerics.md, "16-bit activations".
//
// Operands: x, w [out][in], b?, mult, shift, parameters, y. All leading dimensions of x
// are rows; all tensors are contiguous.

#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/dot16.h"

namespace thimble::kernels {
namespace {

using abi::Linear16Params;

Status check_matrices(const Tensor& x, const Tensor& w, const Tensor& y) {
  const Tensor* const all[] = {&x, &w, &y};
  for (const Tensor* t : all) {
    const DType dtype = t == &w ? DType::kI8 : DType::kI16;
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, dtype));
    if (!is_contiguous(*t)) return Status::kBadDimOrder;
  }
  if (x.rank == 0 || w.rank != 2 || y.rank != x.rank) return Status::kBadShape;
  const uint32_t last = x.rank - 1U;
  for (uint32_t d = 0; d < last; ++d) {
    if (x.sizes[d] != y.sizes[d]) return Status::kBadShape;
  }
  return x.sizes[last] == w.sizes[1] && y.sizes[last] == w.sizes[0] ? Status::kOk
                                                                    : Status::kBadShape;
}

Status check(const Call& call) {
  const Tensor& w = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_matrices(tensor(call, 0), w, tensor(call, 6)));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_linear16>(tensor(call, 5)));
  const Linear16Params& p = params<abi::op_info::thimble_linear16>(tensor(call, 5));
  if (!are_bounds16(p.min, p.max)) return Status::kBadParameter;
  return check_requant16(tensor(call, 2), tensor(call, 3), tensor(call, 4), w.sizes[0], w.sizes[1]);
}

void run(const Call& call) {
  const Tensor& w = tensor(call, 1);
  const Linear16Params& p = params<abi::op_info::thimble_linear16>(tensor(call, 5));
  const Requant16 requant =
      bind_wide_requant(tensor(call, 2), tensor(call, 3), tensor(call, 4), p.min, p.max);
  const int32_t out = w.sizes[0];
  const int32_t in = w.sizes[1];
  const bool is_narrow = requant.is_narrow(out, in);
  const int16_t* x = codes16(tensor(call, 0));
  int16_t* y = mutable_codes16(tensor(call, 6));
  for (int32_t row = elements(tensor(call, 0)) / in; row > 0; --row) {
    int32_t o = 0;
    Rows16 rows = {x, codes(w), in, 1, 0, 0, in};
    if (is_narrow) {
      multiply16_narrow(rows, requant, 0, out / 4, y);
      o = out / 4 * 4;
      rows.w += o * in;
    }
    for (; o + 4 <= out; o += 4, rows.w += 4 * in) {
      int64_t total[4];
      for (int32_t k = 0; k < 4; ++k) total[k] = requant.start(o + k);
      accumulate16(rows, total);
      for (int32_t k = 0; k < 4; ++k) y[o + k] = requant.finish(total[k], o + k);
    }
    for (; o < out; ++o, rows.w += in) {
      int64_t total[1] = {requant.start(o)};
      accumulate16(rows, total);
      y[o] = requant.finish(total[0], o);
    }
    x += in;
    y += out;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_linear16, check, run);

}  // namespace thimble::kernels
