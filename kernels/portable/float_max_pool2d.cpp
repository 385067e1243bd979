// SPDX-License-Identifier: Apache-2.0
// thimble::max_pool2d.f32: maxima of windows over images [N, C, H, W] of any dim_order. NaN is
// greater than every number.
//
// Operands: x, kernel, stride, padding (top, left, bottom, right), dilation, y.

#include "abi/ops/float.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/args/window.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

WindowAxis window(const Call& call, uint32_t axis) {
  return {ints(call, 1).items[axis],       ints(call, 2).items[axis],
          ints(call, 4).items[axis],       ints(call, 3).items[axis],
          tensor(call, 0).sizes[2 + axis], tensor(call, 5).sizes[2 + axis]};
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 5);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kF32));
  if (x.rank != 4 || y.rank != 4) return Status::kBadShape;
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  constexpr uint32_t kPairs[] = {1, 2, 4};
  for (const uint32_t list : kPairs) {
    if (ints(call, list).count != 2) return Status::kBadParameter;
  }
  if (ints(call, 3).count != 4) return Status::kBadParameter;
  const WindowAxis axes[2] = {window(call, 0), window(call, 1)};
  THIMBLE_RETURN_IF_ERROR(check_axes(axes, y.sizes[1]));
  for (const WindowAxis& axis : axes) {
    if (!windows_meet_image(axis)) return Status::kBadShape;
  }
  return Status::kOk;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 5);
  const WindowAxis down_axis = window(call, 0), across_axis = window(call, 1);
  int32_t in[abi::kMaxRank], out[abi::kMaxRank];
  strides(x, in);
  strides(y, out);
  const int32_t row_step = down_axis.dilation * in[2], column_step = across_axis.dilation * in[3];
  for (int32_t plane = 0; plane < y.sizes[0] * y.sizes[1]; ++plane) {
    const int32_t n = plane / y.sizes[1], c = plane % y.sizes[1];
    const float* const from = floats(x) + n * in[0] + c * in[1];
    float* const to = mutable_floats(y) + n * out[0] + c * out[1];
    for (int32_t oy = 0; oy < y.sizes[2]; ++oy) {
      const int32_t top = down_axis.origin(oy);
      const Taps down = down_axis.inside(top);
      for (int32_t ox = 0; ox < y.sizes[3]; ++ox) {
        const int32_t left = across_axis.origin(ox);
        const Taps across = across_axis.inside(left);
        const float* const corner = from + top * in[2] + left * in[3];
        float best = corner[down.first * row_step + across.first * column_step];
        for (int32_t ky = down.first; ky < down.last; ++ky) {
          for (int32_t kx = across.first; kx < across.last; ++kx) {
            const float value = corner[ky * row_step + kx * column_step];
            if (value > best || !(value == value)) best = value;
          }
        }
        to[oy * out[2] + ox * out[3]] = best;
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_max_pool2d_f32, check, run);

}  // namespace thimble::kernels
