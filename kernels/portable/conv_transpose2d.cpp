// SPDX-License-Identifier: Apache-2.0
// thimble::conv_transpose2d; formula: docs/numerics.md, "Transposed convolution". Any groups,
// dilation and batch.
//
// Operands: x, w, bias?, mult, shift, parameters, y. Memory and geometry:
// kernels/args/conv_transpose.h. Each tap is a dot product over the channels of a group.

#include <string.h>

#include "abi/ops/conv.h"
#include "abi/params/conv.h"
#include "kernels/args/conv_transpose.h"
#include "kernels/args/params.h"
#include "kernels/args/requant.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

using abi::ConvTranspose2dParams;

struct Transposed {
  const int8_t* x;
  const int8_t* w;
  int8_t* y;
  int32_t batch, in_c, out_c, groups, x_offset;
  TransposedAxis axis[2];
  Requant requant;
};

const ConvTranspose2dParams& params_of(const Call& call) {
  return params<abi::op_info::thimble_conv_transpose2d>(tensor(call, 5));
}

Transposed bind(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, 6);
  const ConvTranspose2dParams& a = params_of(call);
  Transposed conv;
  conv.x = codes(x);
  conv.w = codes(w);
  conv.y = mutable_codes(y);
  conv.batch = x.sizes[0];
  conv.in_c = x.sizes[1];
  conv.out_c = y.sizes[1];
  conv.groups = a.groups;
  conv.x_offset = -a.x_zp;
  bind_transposed_axes(x, w, y, a.window, conv.axis);
  const Tensor& mult = tensor(call, 3);
  const Tensor& shift = tensor(call, 4);
  conv.requant.bias = words(tensor(call, 2));
  conv.requant.mult = words(mult);
  conv.requant.shift = codes(shift);
  conv.requant.mult_step = elements(mult) == 1 ? 0 : 1;
  conv.requant.shift_step = elements(shift) == 1 ? 0 : 4;
  conv.requant.y_offset = a.y_zp;
  conv.requant.min = a.min;
  conv.requant.max = a.max;
  return conv;
}

Status check_numbers(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_conv_transpose2d>(tensor(call, 5)));
  const ConvTranspose2dParams& a = params_of(call);
  const bool fine = a.groups >= 1 && is_code(a.x_zp) && a.rounding == 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

/// Checks a tensor of one word, or of one word per channel.
Status check_scales(const Tensor& scales, int32_t channels) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(scales, DType::kI32));
  if (!scales.is_constant) return Status::kBadParameter;
  const int32_t count = elements(scales);
  return count == 1 || count == channels ? Status::kOk : Status::kBadShape;
}

Status check(const Call& call) {
  const Tensor& w = tensor(call, 1);
  const Tensor& shift = tensor(call, 4);
  const Tensor& y = tensor(call, 6);
  THIMBLE_RETURN_IF_ERROR(check_numbers(call));
  const ConvTranspose2dParams& a = params_of(call);
  THIMBLE_RETURN_IF_ERROR(check_transposed(tensor(call, 0), w, y, DType::kI8, a.window, a.groups));
  const int64_t terms = int64_t{w.sizes[0] / a.groups} * w.sizes[2] * w.sizes[3];
  if (terms > abi::kMaxAccumulations) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_bias(tensor(call, 2), y.sizes[1]));
  THIMBLE_RETURN_IF_ERROR(check_scales(tensor(call, 3), y.sizes[1]));
  THIMBLE_RETURN_IF_ERROR(check_scales(shift, y.sizes[1]));
  // check_requant() reads only the low byte of a single shift.
  if (!numerics::shift_in_range(words(shift)[0])) return Status::kBadParameter;
  return check_requant(bind(call).requant, y.sizes[1]);
}

/// Adds one product for each of `kRows` channels: one tap of a depthwise filter.
template <int kRows>
void accumulate_one(int32_t x, const int8_t* w, int32_t w_step, uint32_t (&acc)[kRows]) {
  for (int k = 0; k < kRows; ++k) acc[k] += static_cast<uint32_t>(x * w[k * w_step]);
}

template <int kRows>
void channels(const Transposed& conv, const int8_t* image, const ContributingInputs& down,
              const ContributingInputs& across, int32_t group, int32_t o, int8_t* y) {
  const TransposedAxis& vertical = conv.axis[0];
  const TransposedAxis& horizontal = conv.axis[1];
  const int32_t group_i = conv.in_c / conv.groups;
  const int32_t filter = vertical.kernel * horizontal.kernel * conv.in_c;
  const int32_t channel = group * (conv.out_c / conv.groups) + o;
  const int8_t* const w = conv.w + o * filter + group * group_i;
  const int8_t* const x = image + group * group_i;
  uint32_t acc[kRows];
  for (int k = 0; k < kRows; ++k) acc[k] = static_cast<uint32_t>(conv.requant.start(channel + k));
  for (int32_t row = 0; row < down.count; ++row) {
    const int32_t w_row = (down.tap + row * vertical.step) * horizontal.kernel + across.tap;
    const int32_t x_row = (down.input - row * vertical.back) * horizontal.in + across.input;
    for (int32_t column = 0; column < across.count; ++column) {
      const int8_t* const from = x + (x_row - column * horizontal.back) * conv.in_c;
      const int8_t* const tap = w + (w_row + column * horizontal.step) * conv.in_c;
      if (group_i == 1) {
        accumulate_one(*from + conv.x_offset, tap, filter, acc);
      } else {
        accumulate(from, tap, filter, group_i, conv.x_offset, acc);
      }
    }
  }
  for (int k = 0; k < kRows; ++k) {
    y[channel + k] = conv.requant.finish(static_cast<int32_t>(acc[k]), channel + k);
  }
}

void pixel(const Transposed& conv, const int8_t* image, ContributingInputs down,
           ContributingInputs across, int8_t* y) {
  const int32_t group_o = conv.out_c / conv.groups;
  if (across.count == 0) down.count = 0;
  if (down.count == 0) down = across = {0, 0, 0};
  for (int32_t group = 0; group < conv.groups; ++group) {
    int32_t o = 0;
    for (; o + 4 <= group_o; o += 4) channels<4>(conv, image, down, across, group, o, y);
    for (; o < group_o; ++o) channels<1>(conv, image, down, across, group, o, y);
  }
}

void run(const Call& call) {
  const Transposed conv = bind(call);
  const int8_t* image = conv.x;
  int8_t* y = conv.y;
  for (int32_t n = 0; n < conv.batch; ++n) {
    for (int32_t oy = 0; oy < conv.axis[0].out; ++oy) {
      const ContributingInputs down = conv.axis[0].contributing_inputs(oy);
      for (int32_t ox = 0; ox < conv.axis[1].out; ++ox) {
        pixel(conv, image, down, conv.axis[1].contributing_inputs(ox), y);
        y += conv.out_c;
      }
    }
    image += conv.axis[0].in * conv.axis[1].in * conv.in_c;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv_transpose2d, check, run);

}  // namespace thimble::kernels
