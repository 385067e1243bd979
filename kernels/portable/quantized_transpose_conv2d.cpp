// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_transpose_conv2d: every element of x contributes to the outputs of its
// window; sums are requantized as in a convolution, docs/numerics.md, "Convolution, linear". The
// kernel computes one output at a time: tap k of output o reads input (o + pad - k dilation) /
// stride if this is an integer.
//
// Operands: x, w int8 [O, kernel_h, kernel_w, I], bias?, stride[2], padding[2], output_padding[2],
// dilation[2], x_offset, y_offset, mult int32[O], shift int32[O], min, max, [two scratches (unused
// here, but writable),] y. Images are NHWC in memory.

#include "abi/ops/stock.h"
#include "kernels/args/requant.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct Axis {
  int32_t kernel, stride, pad, after, dilation, in, out;
};
struct TransposedConv {
  Axis axis[2];
  int32_t batch, in_c, out_c, x_offset;
  Requant requant;
};

constexpr uint32_t out_index(StockSignature form) {
  return form == StockSignature::kNoScratch ? 13 : 15;
}

TransposedConv bind(const Call& call, StockSignature form) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, out_index(form));
  const ImageDims dims = image_dims(form);
  const uint32_t at[2] = {dims.height, dims.width};
  TransposedConv up;
  for (uint32_t a = 0; a < 2; ++a) {
    up.axis[a] = {tensor(call, 1).sizes[1 + a],
                  ints(call, 3).items[a],
                  ints(call, 4).items[a],
                  ints(call, 5).items[a],
                  ints(call, 6).items[a],
                  x.sizes[at[a]],
                  y.sizes[at[a]]};
  }
  up.batch = x.sizes[0];
  up.in_c = x.sizes[dims.channels];
  up.out_c = y.sizes[dims.channels];
  up.x_offset = integer(call, 7);
  up.requant.bias = words(tensor(call, 2));
  up.requant.mult = words(tensor(call, 9));
  up.requant.shift = codes(tensor(call, 10));
  up.requant.y_offset = integer(call, 8);
  up.requant.min = integer(call, 11);
  up.requant.max = integer(call, 12);
  return up;
}

/// Returns true if the output has the extent of torch.nn.functional.conv_transpose2d.
bool fits(const Axis& axis) {
  const auto is_small = [](int32_t value, int32_t low) { return value >= low && value <= 32767; };
  if (!is_small(axis.kernel, 1) || !is_small(axis.stride, 1) || !is_small(axis.dilation, 1) ||
      !is_small(axis.pad, 0) || !is_small(axis.after, 0) || axis.in > (1 << 24)) {
    return false;
  }
  return int64_t{axis.in - 1} * axis.stride - 2 * axis.pad +
             int64_t{axis.kernel - 1} * axis.dilation + axis.after + 1 ==
         axis.out;
}

template <StockSignature kSignature>
Status check(const Call& call) {
  constexpr Letters kLetters = letters(abi::op_info::cortex_m_quantized_transpose_conv2d_14);
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, out_index(kSignature));
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  if (kSignature != StockSignature::kNoScratch &&
      (tensor(call, 13).is_constant || tensor(call, 14).is_constant)) {
    return Status::kBadParameter;
  }
  THIMBLE_RETURN_IF_ERROR(check_image(x, kSignature));
  THIMBLE_RETURN_IF_ERROR(check_image(y, kSignature));
  THIMBLE_RETURN_IF_ERROR(check_tensor(w, DType::kI8));
  if (w.rank != 4) return Status::kBadShape;
  if (!is_contiguous(w)) return Status::kBadDimOrder;
  for (uint32_t list = 3; list <= 6; ++list) {
    if (ints(call, list).count != 2) return Status::kBadParameter;
  }
  const TransposedConv up = bind(call, kSignature);
  if (up.batch != y.sizes[0] || w.sizes[0] != up.out_c || w.sizes[3] != up.in_c) {
    return Status::kBadShape;
  }
  if (!fits(up.axis[0]) || !fits(up.axis[1])) return Status::kBadShape;
  const int64_t taps = int64_t{up.axis[0].kernel} * up.axis[1].kernel;
  if (taps * up.in_c > abi::kMaxAccumulations) return Status::kBadShape;
  if (!is_offset(up.x_offset)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_bias(tensor(call, 2), up.out_c));
  THIMBLE_RETURN_IF_ERROR(check_stock_scales(tensor(call, 9), tensor(call, 10), up.out_c));
  return check_requant(up.requant, up.out_c);
}

/// Returns the input position that tap k of output o reads, or -1.
int32_t source(const Axis& axis, int32_t o, int32_t k) {
  const int32_t upsampled = o + axis.pad - k * axis.dilation;
  if (upsampled < 0) return -1;
  const int32_t at = upsampled / axis.stride;
  return at < axis.in && at * axis.stride == upsampled ? at : -1;
}

/// Computes all channels of one output pixel.
void pixel(const TransposedConv& up, const int8_t* image, const int8_t* w, int32_t oy, int32_t ox,
           int8_t* y) {
  for (int32_t o = 0; o < up.out_c; ++o) {
    auto sum = static_cast<uint32_t>(up.requant.start(o));
    for (int32_t ky = 0; ky < up.axis[0].kernel; ++ky) {
      const int32_t iy = source(up.axis[0], oy, ky);
      for (int32_t kx = 0; kx < up.axis[1].kernel; ++kx, w += up.in_c) {
        const int32_t ix = iy < 0 ? -1 : source(up.axis[1], ox, kx);
        if (ix < 0) continue;
        const int8_t* const x = image + (iy * up.axis[1].in + ix) * up.in_c;
        for (int32_t i = 0; i < up.in_c; ++i) {
          sum += static_cast<uint32_t>((x[i] + up.x_offset) * w[i]);
        }
      }
    }
    y[o] = up.requant.finish(static_cast<int32_t>(sum), o);
  }
}

template <StockSignature kSignature>
void run(const Call& call) {
  const TransposedConv up = bind(call, kSignature);
  const int8_t* image = codes(tensor(call, 0));
  int8_t* y = mutable_codes(tensor(call, out_index(kSignature)));
  for (int32_t n = 0; n < up.batch; ++n) {
    for (int32_t oy = 0; oy < up.axis[0].out; ++oy) {
      for (int32_t ox = 0; ox < up.axis[1].out; ++ox) {
        pixel(up, image, codes(tensor(call, 1)), oy, ox, y);
        y += up.out_c;
      }
    }
    image += up.axis[0].in * up.axis[1].in * up.in_c;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_transpose_conv2d,
                      check<StockSignature::kCurrent>, run<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_transpose_conv2d_14,
                      check<StockSignature::kNoScratch>, run<StockSignature::kNoScratch>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_transpose_conv2d_nhwc,
                      check<StockSignature::kNhwc>, run<StockSignature::kNhwc>);

}  // namespace thimble::kernels
