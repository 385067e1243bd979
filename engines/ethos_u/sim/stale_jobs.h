#pragma once
// What BLOCKDEP allows a kernel not to see of the kernel before it, byte by byte.
//
// Every element of both kernels' maps is visited and its bytes marked in shadows of the region, so
// that nothing here depends on how windows are laid over maps.

#include "engines/ethos_u/sim/jobs.h"
#include "engines/ethos_u/sim/write_log.h"

namespace thimble::ethos_u::sim {

class StaleJobs {
 public:
  static constexpr uint32_t kShadows = 3;
  void give(uint8_t* memory, uint64_t bytes) { memory_ = memory, bytes_ = bytes; }

  /// False if every job of `operation` sees all of `before`, or if bytes cannot show that it does
  /// not (chains).
  [[nodiscard]] bool prepare(const Config& config, const KernelOperation& before,
                             const KernelOperation& operation);
  /// Turns to a block of the operation; false if it and all blocks after it see everything.
  [[nodiscard]] bool choose(uint32_t block);
  /// Bytes that the block sees of what the kernel before wrote.
  [[nodiscard]] WriteLog::Filter seen();
  /// Bytes of the block itself.
  [[nodiscard]] WriteLog::Filter own();

 private:
  /// Of one byte: which of the last jobs before wrote it (1 = the last), which slice of channels
  /// reads it, which of the first blocks writes it (1 = the first).
  [[nodiscard]] uint8_t* writer() { return memory_; }
  [[nodiscard]] uint8_t* slice() { return memory_ + bytes_; }
  [[nodiscard]] uint8_t* owner() { return memory_ + 2 * bytes_; }

  uint8_t* memory_ = nullptr;
  uint64_t bytes_ = 0;
  uint8_t before_region_ = 0, own_region_ = 0;
  uint32_t depth_ = 0;   // BLOCKDEP
  uint32_t slices_ = 1;  // jobs of a block
  uint32_t block_ = 0;
  uint64_t blocks_ = 0;
};

}  // namespace thimble::ethos_u::sim
