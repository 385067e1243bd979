#pragma once
// Limits that compiler and runtime share. A test exercises each of them.
#include <cstdint>

namespace thimble::abi {
inline constexpr uint32_t kMaxRank = 6;
inline constexpr uint32_t kMaxArgs = 20;    // arguments of one kernel call, with the return value
inline constexpr uint32_t kMaxIntList = 8;  // items of an integer list argument
inline constexpr uint32_t kConstantAlignment = 16;
inline constexpr uint32_t kArenaAlignment = 16;
/// Maximum number of products in a 32-bit accumulator: 2^31 / (255 * 128), rounded down.
inline constexpr int64_t kMaxAccumulations = 65793;
/// Maximum number of products of two activations: 2^31 / (255 * 255), rounded down.
inline constexpr int32_t kMaxMatmulDepth = 33025;
inline constexpr int32_t kMaxLogSoftmaxRow = 2047;
}  // namespace thimble::abi
