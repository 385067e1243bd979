// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scratch sizes in bytes for ExecuTorch 1.5's cortex_m kernels, which use CMSIS-NN. They equal the
// sizes that ExecuTorch's own exporter plans. Source: CMSIS-NN 7,
// arm_convolve_get_buffer_sizes_s8.c, arm_depthwise_conv_get_buffer_sizes_s8.c,
// arm_avgpool_get_buffer_sizes_s8.c (GCC branch), called as in ExecuTorch
// backends/cortex_m/passes/scratch_buffer_sizes.py.

#include <cstdint>

#include "abi/named_data.h"

namespace thimble::engine::cortex_m {

struct WindowShape {
  int64_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
  int64_t kernel_h, kernel_w, kernel_c;  // kernel_c: input channels per group
  int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};

[[nodiscard]] int64_t conv_scratch_bytes(const WindowShape& s, abi::Isa isa);
[[nodiscard]] int64_t depthwise_scratch_bytes(const WindowShape& s, abi::Isa isa);
[[nodiscard]] int64_t avg_pool_scratch_bytes(const WindowShape& s, abi::Isa isa);

}  // namespace thimble::engine::cortex_m
