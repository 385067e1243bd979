#pragma once
// Weights of a transposed convolution, [I, O/groups, kh, kw], as the filters of a convolution with
// the same channels, [O, I/groups, kh, kw]: one run of numbers for each output channel. The
// function is its own inverse.

#include "ir/tensor.h"

namespace thimble::ir {

[[nodiscard]] Tensor swapped_filters(const Tensor& w, int64_t groups);

}  // namespace thimble::ir
