// SPDX-License-Identifier: Apache-2.0
#pragma once
// Geometry of transposed convolutions, computed per output: every output position sums over the
// inputs that contribute to it. Along one axis these inputs belong to every `step`-th tap, and the
// input index decreases by a fixed distance from one such tap to the next.
//
// Memory: x and y NHWC; w, logical [I, O/groups, kh, kw], as [O/groups][kh][kw][I].

#include <cstdint>

#include "abi/params/conv.h"
#include "kernels/args/operands.h"

namespace thimble::kernels {

/// The inputs that contribute to one output position: the first tap, its input, and their count.
struct ContributingInputs {
  int32_t tap, input, count;
};

struct TransposedAxis {
  int32_t in, out, kernel, stride, dilation, pad;
  int32_t step;  // distance in taps between two taps that meet an input
  int32_t back;  // distance in inputs between the two

  ContributingInputs contributing_inputs(int32_t position) const;
};

/// Checks that x and y have type `dtype`, that w is int8, that memory orders are as above, that the
/// shapes match, and that all positions fit 32 bits. groups must be at least 1.
Status check_transposed(const Tensor& x, const Tensor& w, const Tensor& y, DType dtype,
                        const abi::TransposedWindow& window, int32_t groups);
void bind_transposed_axes(const Tensor& x, const Tensor& w, const Tensor& y,
                          const abi::TransposedWindow& window, TransposedAxis (&axes)[2]);

}  // namespace thimble::kernels
