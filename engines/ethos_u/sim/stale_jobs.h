// SPDX-License-Identifier: Apache-2.0
#pragma once
// Determines, byte by byte, which results of the previous kernel a kernel may not read because of
// BLOCKDEP.
//
// Every element of both kernels' maps is visited, and its bytes are marked in shadow copies of the
// region. This makes the result independent of the window computations of Jobs.

#include "engines/ethos_u/sim/jobs.h"
#include "engines/ethos_u/sim/write_log.h"

namespace thimble::ethos_u::sim {

class StaleJobs {
 public:
  static constexpr uint32_t kShadows = 3;
  void set_buffer(uint8_t* memory, uint64_t bytes) { memory_ = memory, bytes_ = bytes; }

  /// Returns false if every job of `operation` can read all of `before`, or if bytes cannot show
  /// the difference (chains).
  [[nodiscard]] bool prepare(const Config& config, const KernelOperation& before,
                             const KernelOperation& operation);
  /// Selects a block of the operation. Returns false if this block and all later blocks can read
  /// everything.
  [[nodiscard]] bool choose(uint32_t block);
  /// Selects the bytes written by the previous kernel that the block can read.
  [[nodiscard]] WriteLog::Filter seen();
  /// Selects the bytes written by the block itself.
  [[nodiscard]] WriteLog::Filter own();

 private:
  /// Shadows, one entry per byte. writer: which of the last jobs of the previous kernel wrote it (1
  /// = the last). slice: which slice of channels reads it. owner: which of the first blocks writes
  /// it (1 = the first).
  [[nodiscard]] uint8_t* writer() { return memory_; }
  [[nodiscard]] uint8_t* slice() { return memory_ + bytes_; }
  [[nodiscard]] uint8_t* owner() { return memory_ + 2 * bytes_; }

  uint8_t* memory_ = nullptr;
  uint64_t bytes_ = 0;
  uint8_t before_region_ = 0, own_region_ = 0;
  uint32_t depth_ = 0;   // BLOCKDEP
  uint32_t slices_ = 1;  // number of jobs per block
  uint32_t block_ = 0;
  uint64_t blocks_ = 0;
};

}  // namespace thimble::ethos_u::sim
