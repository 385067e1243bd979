// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts weights of a transposed convolution, [I, O/groups, kh, kw], to the filter layout of a
// convolution with the same channels, [O, I/groups, kh, kw]. The weights of one output channel
// become contiguous. The function is its own inverse.

#include "ir/tensor.h"

namespace thimble::ir {

[[nodiscard]] Tensor transposed_conv_filters(const Tensor& w, int64_t groups);

}  // namespace thimble::ir
