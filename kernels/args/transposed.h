#pragma once
// Geometry of transposed convolutions, read backwards: every output position gathers from the
// inputs that reach it. Along one axis these are every `step`-th tap, and the input moves back by a
// fixed distance from one to the next.
//
// Memory: x and y NHWC; w, logical [I, O/groups, kh, kw], as [O/groups][kh][kw][I].

#include <cstdint>

#include "kernels/args/operands.h"

namespace thimble::kernels {

/// Attributes as they lie; lists begin with their count.
struct TransposedWindow {
  int32_t strides, stride[2];
  int32_t paddings, padding[4];  // top, left, bottom, right
  int32_t output_paddings, output_padding[2];
  int32_t dilations, dilation[2];
};

/// The inputs that reach one output position.
struct Reach {
  int32_t tap, input, count;
};

struct TransposedAxis {
  int32_t in, out, kernel, stride, dilation, pad;
  int32_t step;  // taps from one that meets an input to the next
  int32_t back;  // inputs between the two

  Reach reach(int32_t position) const;
};

/// x and y of `dtype`, w int8, all as above and fitting each other; extents that keep every
/// position within 32 bits. groups >= 1.
Status check_transposed(const Tensor& x, const Tensor& w, const Tensor& y, DType dtype,
                        const TransposedWindow& window, int32_t groups);
void bind_transposed_axes(const Tensor& x, const Tensor& w, const Tensor& y,
                          const TransposedWindow& window, TransposedAxis (&axes)[2]);

}  // namespace thimble::kernels
