// SPDX-License-Identifier: Apache-2.0
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
#include "kernels/portable/dot16.h"

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
  bool is_narrow;  // sums with their biases have 32 bits
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

/// The window of one output position. If neighboring pixels of a row are no neighbors in memory, or
/// only a group of their channels is read, a row has several pieces.
struct Window {
  Rows16 first;  // the first piece of each row, for the first group
  int32_t pieces, x_piece, w_piece;
};

Window window_at(const Conv16& conv, const int16_t* image, int32_t oy, int32_t ox) {
  const WindowAxis& down = conv.axis[0];
  const WindowAxis& across = conv.axis[1];
  const int32_t depth = conv.in_c / conv.groups;
  const int32_t y_origin = down.origin(oy), x_origin = across.origin(ox);
  const Taps ty = down.inside(y_origin), tx = across.inside(x_origin);
  const int32_t taps = tx.last - tx.first;
  const int32_t pixel =
      (y_origin + ty.first * down.dilation) * across.in + x_origin + tx.first * across.dilation;
  const bool whole_rows = conv.groups == 1 && across.dilation == 1;
  Window window = {};
  window.first.x = image + pixel * conv.in_c;
  window.first.w = conv.w + (ty.first * across.kernel + tx.first) * depth;
  window.first.filter = down.kernel * across.kernel * depth;
  window.first.rows = taps > 0 ? ty.last - ty.first : 0;
  window.first.x_row = down.dilation * across.in * conv.in_c;
  window.first.w_row = across.kernel * depth;
  window.first.length = whole_rows ? taps * depth : depth;
  window.pieces = whole_rows ? 1 : taps;
  window.x_piece = across.dilation * conv.in_c;
  window.w_piece = depth;
  return window;
}

/// Computes `kCount` neighboring channels of one group.
template <int32_t kCount>
[[gnu::noinline]] void channels(const Conv16& conv, const Window& window, int32_t channel,
                                int16_t* y) {
  Rows16 rows = window.first;
  int64_t total[kCount];
  for (int32_t k = 0; k < kCount; ++k) total[k] = conv.requant.start(channel + k);
  for (int32_t piece = window.pieces; piece > 0; --piece) {
    accumulate16(rows, total);
    rows.x += window.x_piece;
    rows.w += window.w_piece;
  }
  for (int32_t k = 0; k < kCount; ++k) y[k] = conv.requant.finish(total[k], channel + k);
}

void all_channels(const Conv16& conv, Window window, int16_t* y) {
  const int32_t group = conv.out_c / conv.groups;
  const int32_t filter = window.first.filter;
  const bool is_narrow = conv.is_narrow && window.pieces == 1;
  int32_t o = 0;
  for (int32_t left = conv.groups; left > 0; --left) {
    const int32_t end = o + group;
    if (is_narrow) {
      const int32_t blocks = group / 4;
      multiply16_narrow(window.first, conv.requant, o, blocks, y + o);
      window.first.w += 4 * blocks * filter;
      o += 4 * blocks;
    }
    for (; o + 4 <= end; o += 4, window.first.w += 4 * filter) channels<4>(conv, window, o, y + o);
    for (; o < end; ++o, window.first.w += filter) channels<1>(conv, window, o, y + o);
    window.first.x += conv.in_c / conv.groups;
  }
}

bool is_depthwise(const Conv16& conv) {
  return conv.groups > 1 && conv.groups == conv.in_c && conv.out_c == conv.in_c &&
         int64_t{conv.axis[0].kernel} * conv.axis[1].kernel <= kTerms16Max;
}

[[gnu::noinline]] void depthwise_channels(const Conv16& conv, const Window& window, int16_t* y) {
  const Rows16& first = window.first;
  DepthwiseRows16 rows = {first.x,     first.w,     first.filter,  first.rows,
                          first.x_row, first.w_row, window.pieces, window.x_piece};
  for (int32_t o = 0; o < conv.out_c; o += kDepthwise16Channels) {
    const int32_t rest = conv.out_c - o;
    const int32_t count = rest < kDepthwise16Channels ? rest : kDepthwise16Channels;
    int32_t sums[kDepthwise16Channels];
    multiply_depthwise16(rows, count, sums);
    rows.x += count;
    rows.w += count * rows.filter;
    int32_t k = 0;
    for (; conv.is_narrow && k + 4 <= count; k += 4) {
      finish16_narrow(conv.requant, sums + k, o + k, y + o + k);
    }
    for (; k < count; ++k) {
      y[o + k] = conv.requant.finish(conv.requant.start(o + k) + sums[k], o + k);
    }
  }
}

void run(const Call& call) {
  Conv16 conv = bind(call);
  const int64_t depth = conv.in_c / conv.groups;
  conv.is_narrow =
      conv.requant.is_narrow(conv.out_c, conv.axis[0].kernel * conv.axis[1].kernel * depth);
  const bool depthwise = is_depthwise(conv);
  int16_t* y = conv.y;
  const int16_t* image = conv.x;
  for (int32_t n = 0; n < conv.batch; ++n) {
    for (int32_t oy = 0; oy < conv.axis[0].out; ++oy) {
      for (int32_t ox = 0; ox < conv.axis[1].out; ++ox) {
        const Window window = window_at(conv, image, oy, ox);
        if (depthwise) {
          depthwise_channels(conv, window, y);
        } else {
          all_channels(conv, window, y);
        }
        y += conv.out_c;
      }
    }
    image += conv.axis[0].in * conv.axis[1].in * conv.in_c;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv2d16, check, run);

}  // namespace thimble::kernels
