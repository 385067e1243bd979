// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a core reads the instructions of kernels, without wait states: means over networks, which
// benchmarks/cycles/fetches.py measures. driver/code_waits.h computes wait states from them.

#include <array>
#include <cstdint>

namespace thimble::engine {

/// Sizes of instruction caches, in bytes, for which the share of misses is measured.
inline constexpr std::array<int64_t, 11> kCodeCacheBytes = {0,   16,   32,   64,   128, 256,
                                                            512, 1024, 2048, 4096, 8192};

struct CodeTraffic {
  double bytes_per_cycle = 0;  // of executed instructions
  double jumps_per_cycle = 0;  // taken branches to another line of 8 bytes
  /// Share of the reads, of branches and of next lines, that a cache of this size does not hold.
  std::array<double, kCodeCacheBytes.size()> misses{};
  /// Share of the branches that neither the cache nor a prefetch of the next line holds, if the
  /// cache keeps only lines that branches read.
  std::array<double, kCodeCacheBytes.size()> jump_misses{};
};

}  // namespace thimble::engine
