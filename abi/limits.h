// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits that compiler and runtime share. A test exercises each of them.
#include <cstdint>

namespace thimble::abi {
inline constexpr uint32_t kMaxRank = 6;
/// Arguments of one kernel call in a file, with the return value. A decoded call has one less.
inline constexpr uint32_t kMaxArgs = 20;
inline constexpr uint32_t kMaxIntList = 8;  // items of an integer list argument
inline constexpr uint32_t kConstantAlignment = 16;
inline constexpr uint32_t kArenaAlignment = 16;
/// Maximum size of an arena, so that the sum of an aligned arena and a smaller size fits 32 bits.
inline constexpr uint32_t kArenaBytesMax = 0x7FFFFFFF;
/// Maximum number of products in a 32-bit accumulator: 2^31 / (255 * 128), rounded down.
inline constexpr int64_t kMaxAccumulations = 65793;
/// Maximum number of products of two activations: 2^31 / (255 * 255), rounded down.
inline constexpr int32_t kMaxMatmulDepth = 33025;
/// Maximum row length of log_softmax: the sum of its exponentials, at most 2^20 each, fits an
/// int32.
inline constexpr int32_t kMaxLogSoftmaxRow = 2047;
}  // namespace thimble::abi
