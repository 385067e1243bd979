#pragma once
// Sizes that the hardware's registers and memories end at, in every generation (docs/ethos-u.md).

#include <cstdint>

namespace thimble::engine::ethos_u {

// Kernels of convolutions, dilated.
inline constexpr int64_t kKernelHeightMax = 64;
inline constexpr int64_t kKernelAreaMax = 64 * 64;
// Kernels of pools.
inline constexpr int64_t kPoolHeightMax = 256;
inline constexpr int64_t kPoolAreaMax = 256 * 256;
/// Largest kernel of a pool that divides by the positions inside the image.
inline constexpr int64_t kCountedKernelMax = 8;
inline constexpr int64_t kStrideMax = 3;
inline constexpr int64_t kPadMax = 127;
/// Sum of the magnitudes of one output channel's weights.
inline constexpr int64_t kWeightSumMax = 127 * 65536;

// Not the hardware's: where operations made of many would cost more than the processor.
inline constexpr int64_t kCopiesMax = 1024;
inline constexpr int64_t kPartsMax = 256;
/// Times that a softmax, of some thirty operations, is made.
inline constexpr int64_t kRowsMax = 16;
/// Channels that a convolution with one weight each puts in another order.
inline constexpr int64_t kPermutedChannelsMax = 512;
/// 32-bit products that a matrix product of U55 and U65 holds at a time.
inline constexpr int64_t kProductsTogether = 16384;

}  // namespace thimble::engine::ethos_u
