// thimble::conv_transpose2d; formula: docs/numerics.md, "Transposed convolution". Any groups,
// dilation and batch.
//
// Operands: x, w, bias?, mult, shift, attributes (Attributes below), y.
// Memory: x and y NHWC; w, logical [I, O/groups, kh, kw], as [O/groups][kh][kw][I].
//
// Read backwards: every output pixel gathers from the inputs that reach it. Along one axis these
// are every `step`-th tap, and the input moves back by a fixed distance from one to the next; what
// remains for each is a dot product over the channels of a group.

#include <cstring>

#include "kernels/args/attributes.h"
#include "kernels/args/requant.h"
#include "kernels/define.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kMax = 32767;

struct Attributes {
  int32_t strides, stride[2];
  int32_t paddings, padding[4];  // top, left, bottom, right
  int32_t output_paddings, output_padding[2];
  int32_t dilations, dilation[2];
  int32_t groups, x_zp, y_zp, min, max, rounding;
};

struct Axis {
  int32_t in, out, kernel, stride, dilation, pad;
  int32_t step;  // taps from one that meets an input to the next
  int32_t back;  // inputs between the two
};

/// The inputs that reach one output position.
struct Reach {
  int32_t tap, input, count;
};

struct Transposed {
  const int8_t* x;
  const int8_t* w;
  int8_t* y;
  int32_t batch, in_c, out_c, groups, x_offset;
  Axis axis[2];
  Requant requant;
};

Attributes attributes_of(const Call& call) {
  Attributes attributes;
  memcpy(&attributes, tensor(call, 5).data, sizeof attributes);
  return attributes;
}

int32_t common_divisor(int32_t a, int32_t b) {
  while (b != 0) {
    const int32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Transposed bind(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, 6);
  const Attributes a = attributes_of(call);
  Transposed conv;
  conv.x = codes(x);
  conv.w = codes(w);
  conv.y = mutable_codes(y);
  conv.batch = x.sizes[0];
  conv.in_c = x.sizes[1];
  conv.out_c = y.sizes[1];
  conv.groups = a.groups;
  conv.x_offset = -a.x_zp;
  for (uint32_t i = 0; i < 2; ++i) {
    Axis& axis = conv.axis[i];
    axis = {x.sizes[2 + i],
            y.sizes[2 + i],
            w.sizes[2 + i],
            a.stride[i],
            a.dilation[i],
            a.padding[i],
            1,
            1};
    const int32_t divisor = common_divisor(axis.stride, axis.dilation);
    axis.step = axis.stride / divisor;
    axis.back = axis.dilation / divisor;
  }
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

bool in_range(int32_t value, int32_t low) {
  return value >= low && value <= kMax;
}

/// Extents that keep every position within 32 bits, and the output's is the formula's.
Status check_side(const Call& call, uint32_t side) {
  const Attributes a = attributes_of(call);
  const int32_t in = tensor(call, 0).sizes[2 + side];
  const int32_t kernel = tensor(call, 1).sizes[2 + side];
  const int32_t out = tensor(call, 6).sizes[2 + side];
  const bool fits = in_range(kernel, 1) && in_range(a.stride[side], 1) &&
                    in_range(a.dilation[side], 1) && in_range(a.padding[side], 0) &&
                    in_range(a.padding[side + 2], 0) && in_range(a.output_padding[side], 0);
  if (!fits) return Status::kBadParameter;
  const int64_t last = int64_t{in - 1} * a.stride[side] + (kernel - 1) * a.dilation[side];
  const int64_t cut = a.padding[side] + a.padding[side + 2] - a.output_padding[side];
  if (last > (1 << 30) || last + 1 - cut != out) return Status::kBadShape;
  return Status::kOk;
}

Status check_attribute_words(const Call& call) {
  const Tensor& words = tensor(call, 5);
  const Status s = check_attributes(words, sizeof(Attributes) / sizeof(int32_t));
  if (s != Status::kOk) return s;
  const Attributes a = attributes_of(call);
  const bool fine = a.strides == 2 && a.paddings == 4 && a.output_paddings == 2 &&
                    a.dilations == 2 && a.groups >= 1 && is_code(a.x_zp) && a.rounding == 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

Status check_tensors(const Tensor& x, const Tensor& w, const Tensor& y) {
  const Tensor* const all[] = {&x, &w, &y};
  for (const Tensor* t : all) {
    if (const Status s = check_tensor(*t, DType::kI8); s != Status::kOk) return s;
    if (t->rank != 4) return Status::kBadShape;
  }
  static constexpr uint8_t kWeightOrder[] = {1, 2, 3, 0};
  if (!is_nhwc(x) || !is_nhwc(y) || !has_order(w, kWeightOrder)) return Status::kBadLayout;
  return x.sizes[0] == y.sizes[0] && w.sizes[0] == x.sizes[1] ? Status::kOk : Status::kBadShape;
}

/// One word, or one for each channel.
Status check_scales(const Tensor& scales, int32_t channels) {
  if (const Status s = check_tensor(scales, DType::kI32); s != Status::kOk) return s;
  if (!scales.is_constant) return Status::kBadParameter;
  const int32_t count = elements(scales);
  return count == 1 || count == channels ? Status::kOk : Status::kBadShape;
}

Status check(const Call& call) {
  const Tensor& w = tensor(call, 1);
  const Tensor& shift = tensor(call, 4);
  const Tensor& y = tensor(call, 6);
  if (const Status s = check_tensors(tensor(call, 0), w, y); s != Status::kOk) return s;
  if (const Status s = check_attribute_words(call); s != Status::kOk) return s;
  for (uint32_t side = 0; side < 2; ++side) {
    if (const Status s = check_side(call, side); s != Status::kOk) return s;
  }
  const int32_t groups = attributes_of(call).groups;
  const bool divides = w.sizes[0] % groups == 0 && int64_t{w.sizes[1]} * groups == y.sizes[1];
  const int64_t terms = int64_t{w.sizes[0] / groups} * w.sizes[2] * w.sizes[3];
  if (!divides || terms > abi::kMaxAccumulations) return Status::kBadShape;
  if (const Status s = check_bias(tensor(call, 2), y.sizes[1]); s != Status::kOk) return s;
  if (const Status s = check_scales(tensor(call, 3), y.sizes[1]); s != Status::kOk) return s;
  if (const Status s = check_scales(shift, y.sizes[1]); s != Status::kOk) return s;
  // check_requant() sees only the low byte of a single shift.
  if (!numerics::shift_in_range(words(shift)[0])) return Status::kBadParameter;
  return check_requant(bind(call).requant, y.sizes[1]);
}

Reach reach(const Axis& axis, int32_t position) {
  int32_t at = position + axis.pad;  // tap * dilation + input * stride
  Reach reach = {0, 0, 0};
  for (; at % axis.stride != 0; at -= axis.dilation) {
    if (++reach.tap >= axis.step || at < axis.dilation) return reach;
  }
  reach.input = at / axis.stride;
  if (reach.input >= axis.in) {
    const int32_t beyond = reach.input - axis.in + 1;
    const int32_t steps = (beyond + axis.back - 1) / axis.back;
    reach.tap += steps * axis.step;
    reach.input -= steps * axis.back;
  }
  if (reach.tap >= axis.kernel || reach.input < 0) return reach;
  const int32_t taps = (axis.kernel - 1 - reach.tap) / axis.step;
  const int32_t inputs = reach.input / axis.back;
  reach.count = (taps < inputs ? taps : inputs) + 1;
  return reach;
}

/// One product for each of `kRows` channels: what a tap of a depthwise filter is.
template <int kRows>
void accumulate_one(int32_t x, const int8_t* w, int32_t w_step, uint32_t (&acc)[kRows]) {
  for (int k = 0; k < kRows; ++k) acc[k] += static_cast<uint32_t>(x * w[k * w_step]);
}

template <int kRows>
void channels(const Transposed& conv, const int8_t* image, const Reach& down, const Reach& across,
              int32_t group, int32_t o, int8_t* y) {
  const Axis& vertical = conv.axis[0];
  const Axis& horizontal = conv.axis[1];
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

void pixel(const Transposed& conv, const int8_t* image, Reach down, Reach across, int8_t* y) {
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
      const Reach down = reach(conv.axis[0], oy);
      for (int32_t ox = 0; ox < conv.axis[1].out; ++ox) {
        pixel(conv, image, down, reach(conv.axis[1], ox), y);
        y += conv.out_c;
      }
    }
    image += conv.axis[0].in * conv.axis[1].in * conv.in_c;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv_transpose2d, check, run);

}  // namespace thimble::kernels
