// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of softmax and log-softmax.

#include <cstdint>

namespace thimble::abi {

/// Header of log_softmax over the last dimension (contiguous). The array is int32 exp_table[256].
struct LogSoftmaxParams {
  int32_t scale_mult, scale_shift, log_mult, log_shift, y_offset;
};
static_assert(sizeof(LogSoftmaxParams) == 20);

/// qmasked_softmax and softmax16
struct SoftmaxParams {
  int32_t dim, mult, shift, diff_min;
};
static_assert(sizeof(SoftmaxParams) == 16);

}  // namespace thimble::abi
