// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/float_products.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t kConvOut = 7;

WindowAxis window(const Call& call, uint32_t axis) {
  return {tensor(call, 1).sizes[2 + axis], ints(call, 3).items[axis],
          ints(call, 5).items[axis],       ints(call, 4).items[axis],
          tensor(call, 0).sizes[2 + axis], tensor(call, kConvOut).sizes[2 + axis]};
}

Status check_image_floats(const Tensor& t) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kF32));
  if (t.rank != 4) return Status::kBadShape;
  return is_contiguous(t) ? Status::kOk : Status::kBadDimOrder;
}

Status check_bias(const Tensor& bias, int32_t count) {
  if (bias.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kF32));
  return bias.rank == 1 && bias.sizes[0] == count ? Status::kOk : Status::kBadShape;
}

}  // namespace

Status check_float_conv(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, kConvOut);
  THIMBLE_RETURN_IF_ERROR(check_image_floats(x));
  THIMBLE_RETURN_IF_ERROR(check_image_floats(w));
  THIMBLE_RETURN_IF_ERROR(check_image_floats(y));
  if (ints(call, 3).count != 2 || ints(call, 4).count != 4 || ints(call, 5).count != 2) {
    return Status::kBadParameter;
  }
  const int64_t groups = call.args[6].integer;
  if (groups < 1 || groups > x.sizes[1]) return Status::kBadParameter;
  if (x.sizes[1] % groups != 0 || y.sizes[1] % groups != 0) return Status::kBadShape;
  const bool fits =
      x.sizes[0] == y.sizes[0] && w.sizes[0] == y.sizes[1] && w.sizes[1] == x.sizes[1] / groups;
  if (!fits) return Status::kBadShape;
  const WindowAxis axes[2] = {window(call, 0), window(call, 1)};
  THIMBLE_RETURN_IF_ERROR(check_axes(axes, x.sizes[1] > y.sizes[1] ? x.sizes[1] : y.sizes[1]));
  return check_bias(tensor(call, 2), y.sizes[1]);
}

FloatConv bind_float_conv(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& bias = tensor(call, 2);
  const Tensor& y = tensor(call, kConvOut);
  FloatConv layer = {};
  layer.down = window(call, 0);
  layer.across = window(call, 1);
  WindowAxis& down = layer.down;
  WindowAxis& across = layer.across;
  const auto is_one = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.in == 1 && axis.out == 1 && axis.pad == 0;
  };
  if (is_one(across) && !is_one(down)) {
    const WindowAxis column = down;
    down = across;
    across = column;
  }
  layer.of_pixels = down.kernel == 1 && across.kernel == 1;
  const bool keeps_pixels = down.stride == 1 && across.stride == 1 && down.pad == 0 &&
                            across.pad == 0 && down.out == down.in && across.out == across.in;
  if (layer.of_pixels && keeps_pixels) {
    across.in = across.out = down.in * across.in;
    down.in = down.out = 1;
  }
  layer.x = floats(x);
  layer.w = floats(w);
  layer.bias = bias.is_null ? nullptr : floats(bias);
  layer.y = mutable_floats(y);
  layer.batch = x.sizes[0];
  layer.in_c = x.sizes[1];
  layer.out_c = y.sizes[1];
  layer.group_in = w.sizes[1];
  layer.group_out = y.sizes[1] / static_cast<int32_t>(call.args[6].integer);
  layer.plane = down.in * across.in;
  layer.out_plane = down.out * across.out;
  return layer;
}

Status check_float_linear(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(w, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kF32));
  if (x.rank < 1 || x.rank != y.rank || w.rank != 2) return Status::kBadShape;
  for (uint32_t d = 0; d + 1 < x.rank; ++d) {
    if (x.sizes[d] != y.sizes[d]) return Status::kBadShape;
  }
  if (x.sizes[x.rank - 1] != w.sizes[1] || y.sizes[y.rank - 1] != w.sizes[0]) {
    return Status::kBadShape;
  }
  if (!is_contiguous(x) || !is_contiguous(w) || !is_contiguous(y)) return Status::kBadDimOrder;
  return check_bias(tensor(call, 2), w.sizes[0]);
}

FloatMatrix float_matrix(const Tensor& t) {
  int32_t steps[abi::kMaxRank];
  strides(t, steps);
  return {mutable_floats(t), steps[t.rank - 2], steps[t.rank - 1], t.rank > 2 ? steps[0] : 0};
}

Status check_float_product(const Tensor& a, const Tensor& b, const Tensor& y, uint32_t rank) {
  const Tensor* const operands[] = {&a, &b, &y};
  for (const Tensor* const t : operands) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kF32));
    if (t->rank != rank) return Status::kBadShape;
  }
  const uint32_t r = rank - 2;
  const bool multiplies =
      a.sizes[r] == y.sizes[r] && a.sizes[r + 1] == b.sizes[r] && b.sizes[r + 1] == y.sizes[r + 1];
  const bool batches = rank == 2 || (a.sizes[0] == b.sizes[0] && a.sizes[0] == y.sizes[0]);
  return multiplies && batches ? Status::kOk : Status::kBadShape;
}

}  // namespace thimble::kernels
