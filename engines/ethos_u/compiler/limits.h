// SPDX-License-Identifier: Apache-2.0
#pragma once
// Size limits of the hardware's registers and memories, equal in all generations (docs/ethos-u.md).

#include <cstdint>

namespace thimble::engine::ethos_u {

// Kernels of convolutions, including dilation.
inline constexpr int64_t kKernelHeightMax = 64;
inline constexpr int64_t kKernelAreaMax = 64 * 64;
// Kernels of pools.
inline constexpr int64_t kPoolHeightMax = 256;
inline constexpr int64_t kPoolAreaMax = 256 * 256;
/// Maximum kernel size of a pool that divides by the number of positions inside the image.
inline constexpr int64_t kCountedKernelMax = 8;
inline constexpr int64_t kStrideMax = 3;
inline constexpr int64_t kPadMax = 127;
/// Maximum sum of the absolute weights of one output channel.
inline constexpr int64_t kWeightSumMax = 127 * 65536;

// Limits that are not the hardware's: beyond them the NPU would be slower than the CPU.
inline constexpr int64_t kCopiesMax = 1024;
inline constexpr int64_t kPartsMax = 256;
/// Maximum number of softmax instances; each consists of about thirty operations.
inline constexpr int64_t kRowsMax = 16;
/// Maximum number of channels that a convolution with one weight per channel permutes.
inline constexpr int64_t kPermutedChannelsMax = 512;
/// Maximum number of 32-bit products that a matrix product of U55 and U65 holds at a time.
inline constexpr int64_t kProductsTogether = 16384;

}  // namespace thimble::engine::ethos_u
