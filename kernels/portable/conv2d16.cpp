// thimble::conv2d.i16: any groups, dilation and batch; formula: docs/numerics.md, "16-bit
// activations".
//
// Operands: x, w, b?, mult, shift, parameters, y. Memory:
// x and y NHWC; w [out][kernel_h][kernel_w][in / groups], by its dim_order.

#include "abi/ops/conv.h"
#include "abi/params/conv.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/args/window.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::Conv2d16Params;

struct Conv16 {
  const int16_t* x;
  const int8_t* w;
  int16_t* y;
  int32_t batch, in_c, out_c, groups;
  WindowAxis axis[2];  // height, width
  Requant16 requant;
};

Conv16 bind(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, 6);
  const Conv2d16Params& p = params<abi::op_info::thimble_conv2d16>(tensor(call, 5));
  Conv16 conv = {};
  conv.x = codes16(x);
  conv.w = codes(w);
  conv.y = mutable_codes16(y);
  conv.batch = x.sizes[0];
  conv.in_c = x.sizes[1];
  conv.out_c = y.sizes[1];
  conv.groups = p.groups;
  for (uint32_t a = 0; a < 2; ++a) {
    conv.axis[a] = {w.sizes[2 + a],     p.stride.items[a], p.dilation.items[a],
                    p.padding.items[a], x.sizes[2 + a],    y.sizes[2 + a]};
  }
  conv.requant = bind_wide_requant(tensor(call, 2), tensor(call, 3), tensor(call, 4), p.min, p.max);
  return conv;
}

Status check_images(const Tensor& x, const Tensor& w, const Tensor& y) {
  const Tensor* const all[] = {&x, &w, &y};
  for (const Tensor* t : all) {
    const DType dtype = t == &w ? DType::kI8 : DType::kI16;
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, dtype));
    if (t->rank != 4) return Status::kBadShape;
    if (!is_nhwc(*t)) return Status::kBadDimOrder;
  }
  return x.sizes[0] == y.sizes[0] && w.sizes[0] == y.sizes[1] ? Status::kOk : Status::kBadShape;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_images(x, w, tensor(call, 6)));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_conv2d16>(tensor(call, 5)));
  const Conv2d16Params& p = params<abi::op_info::thimble_conv2d16>(tensor(call, 5));
  const bool lists = p.stride.is_complete() && p.padding.is_complete() && p.dilation.is_complete();
  if (!lists || p.groups < 1 || !are_bounds16(p.min, p.max)) return Status::kBadParameter;
  const int32_t out_c = tensor(call, 6).sizes[1];
  if (x.sizes[1] % p.groups != 0 || out_c % p.groups != 0 || w.sizes[1] != x.sizes[1] / p.groups) {
    return Status::kBadShape;
  }
  const int64_t terms = int64_t{w.sizes[1]} * w.sizes[2] * w.sizes[3];
  THIMBLE_RETURN_IF_ERROR(
      check_requant16(tensor(call, 2), tensor(call, 3), tensor(call, 4), out_c, terms));
  const Conv16 conv = bind(call);
  THIMBLE_RETURN_IF_ERROR(check_axes(conv.axis, conv.in_c));
  for (const WindowAxis& axis : conv.axis) {
    if (!output_follows(axis)) return Status::kBadShape;
  }
  return Status::kOk;
}

/// The state of one output position that all its channels share.
struct OutputPosition {
  const int16_t* image;
  int32_t y_origin, x_origin;
  Taps ty, tx;
};

int64_t sum(const Conv16& conv, const OutputPosition& place, int32_t channel) {
  const WindowAxis& down = conv.axis[0];
  const WindowAxis& across = conv.axis[1];
  const int32_t depth = conv.in_c / conv.groups;
  const int32_t first_c = channel / (conv.out_c / conv.groups) * depth;
  const int8_t* w = conv.w + channel * down.kernel * across.kernel * depth;
  int64_t total = conv.requant.start(channel);
  for (int32_t ky = place.ty.first; ky < place.ty.last; ++ky) {
    const int32_t row = (place.y_origin + ky * down.dilation) * across.in;
    for (int32_t kx = place.tx.first; kx < place.tx.last; ++kx) {
      const int32_t pixel = row + place.x_origin + kx * across.dilation;
      total += dot16(place.image + pixel * conv.in_c + first_c,
                     w + (ky * across.kernel + kx) * depth, depth);
    }
  }
  return total;
}

void run(const Call& call) {
  const Conv16 conv = bind(call);
  int16_t* y = conv.y;
  OutputPosition place = {};
  place.image = conv.x;
  for (int32_t n = 0; n < conv.batch; ++n) {
    for (int32_t oy = 0; oy < conv.axis[0].out; ++oy) {
      place.y_origin = conv.axis[0].origin(oy);
      place.ty = conv.axis[0].inside(place.y_origin);
      for (int32_t ox = 0; ox < conv.axis[1].out; ++ox) {
        place.x_origin = conv.axis[1].origin(ox);
        place.tx = conv.axis[1].inside(place.x_origin);
        for (int32_t o = 0; o < conv.out_c; ++o) {
          *y++ = conv.requant.finish(sum(conv, place, o), o);
        }
      }
    }
    place.image += conv.axis[0].in * conv.axis[1].in * conv.in_c;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv2d16, check, run);

}  // namespace thimble::kernels
