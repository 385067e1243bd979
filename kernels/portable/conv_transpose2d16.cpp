// SPDX-License-Identifier: Apache-2.0
// thimble::conv_transpose2d.i16; formula: docs/numerics.md, "Transposed convolution" and
// "16-bit activations". Any groups, dilation and batch.
//
// Operands: x, w, b?, mult, shift, parameters, y. Memory and geometry:
// kernels/args/conv_transpose.h.

#include "abi/ops/conv.h"
#include "abi/params/conv.h"
#include "kernels/args/conv_transpose.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/dot16.h"

namespace thimble::kernels {
namespace {

using abi::ConvTranspose2d16Params;

struct Transposed16 {
  const int8_t* w;
  int32_t in_c, out_c, groups;
  TransposedAxis axis[2];
  Requant16 requant;
};

Transposed16 bind(const Call& call) {
  const ConvTranspose2d16Params& p =
      params<abi::op_info::thimble_conv_transpose2d16>(tensor(call, 5));
  Transposed16 conv = {};
  conv.w = codes(tensor(call, 1));
  conv.in_c = tensor(call, 0).sizes[1];
  conv.out_c = tensor(call, 6).sizes[1];
  conv.groups = p.groups;
  bind_transposed_axes(tensor(call, 0), tensor(call, 1), tensor(call, 6), p.window, conv.axis);
  conv.requant = bind_wide_requant(tensor(call, 2), tensor(call, 3), tensor(call, 4), p.min, p.max);
  return conv;
}

Status check(const Call& call) {
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, 6);
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_conv_transpose2d16>(tensor(call, 5)));
  const ConvTranspose2d16Params& p =
      params<abi::op_info::thimble_conv_transpose2d16>(tensor(call, 5));
  if (p.groups < 1 || !are_bounds16(p.min, p.max)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_transposed(tensor(call, 0), w, y, DType::kI16, p.window, p.groups));
  const int64_t terms = int64_t{w.sizes[0] / p.groups} * w.sizes[2] * w.sizes[3];
  return check_requant16(tensor(call, 2), tensor(call, 3), tensor(call, 4), y.sizes[1], terms);
}

int64_t sum(const Transposed16& conv, const int16_t* image, const ContributingInputs& down,
            const ContributingInputs& across, int32_t channel) {
  const TransposedAxis& vertical = conv.axis[0];
  const TransposedAxis& horizontal = conv.axis[1];
  const int32_t group_o = conv.out_c / conv.groups;
  const int32_t group_i = conv.in_c / conv.groups;
  const int32_t first = channel / group_o * group_i;
  const int32_t filter = vertical.kernel * horizontal.kernel * conv.in_c;
  const int8_t* const w = conv.w + channel % group_o * filter + first;
  int64_t total[1] = {conv.requant.start(channel)};
  for (int32_t row = 0; row < down.count; ++row) {
    const int32_t w_row = (down.tap + row * vertical.step) * horizontal.kernel + across.tap;
    const int32_t x_row = (down.input - row * vertical.back) * horizontal.in + across.input;
    for (int32_t column = 0; column < across.count; ++column) {
      const int32_t pixel = x_row - column * horizontal.back;
      const int32_t tap = w_row + column * horizontal.step;
      accumulate16({image + pixel * conv.in_c + first, w + tap * conv.in_c, 0, 1, 0, 0, group_i},
                   total);
    }
  }
  return total[0];
}

void run(const Call& call) {
  const Transposed16 conv = bind(call);
  const Tensor& x = tensor(call, 0);
  const int16_t* image = codes16(x);
  int16_t* y = mutable_codes16(tensor(call, 6));
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    for (int32_t oy = 0; oy < conv.axis[0].out; ++oy) {
      const ContributingInputs down = conv.axis[0].contributing_inputs(oy);
      for (int32_t ox = 0; ox < conv.axis[1].out; ++ox) {
        const ContributingInputs across = conv.axis[1].contributing_inputs(ox);
        const ContributingInputs rows = across.count == 0 ? ContributingInputs{0, 0, 0} : down;
        for (int32_t o = 0; o < conv.out_c; ++o) {
          *y++ = conv.requant.finish(sum(conv, image, rows, across, o), o);
        }
      }
    }
    image += conv.axis[0].in * conv.axis[1].in * conv.in_c;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv_transpose2d16, check, run);

}  // namespace thimble::kernels
