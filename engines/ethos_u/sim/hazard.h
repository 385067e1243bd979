// SPDX-License-Identifier: Apache-2.0
#pragma once
// The hazard checker: finds reads and writes that lack a required order.
//
// The NPU has two engines, kernels and DMA. Each executes its operations in order, but only
// KERNEL_WAIT and DMA_WAIT order one engine with respect to the other. An operation is outstanding
// from its issue until a wait, the limit of its engine or STOP retires it. While it is outstanding,
// its reads and writes may happen at any time. Two outstanding operations of different engines are
// a hazard if they access the same bytes and at least one of them writes.
//
// A kernel may overlap the previous kernel: when a job starts, the BLOCKDEP jobs before it may
// still be unwritten. A job that reads what one of those jobs writes is also a hazard.
//
//   HazardChecker checker(config);
//   Observer observer = checker.observer();   // pass it to sim::run
//   ... checker.first(), checker.count()
//
// No memory is allocated: footprints are compared as spans (footprint.h).

#include "engines/ethos_u/sim/footprint.h"
#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {

/// Maximum number of outstanding operations of an engine. A chain counts as one kernel: none of its
/// operations retires before the last one.
inline constexpr uint32_t kKernelsOutstanding = 2;
inline constexpr uint32_t kChainMost = 4;  // operations in a chain
inline constexpr uint32_t kDmasOutstandingMost = 4;
[[nodiscard]] constexpr uint32_t dmas_outstanding(Generation generation) {
  return generation == Generation::kU55 ? 1 : generation == Generation::kU65 ? 2 : 4;
}

class HazardChecker {
 public:
  explicit HazardChecker(const Config& config) : config_(config) {}

  /// Checks one operation; call in the order of the stream. The fault names the command and the
  /// conflicting earlier command. The checker continues after a fault.
  Fault kernel(uint32_t word, const KernelOperation& operation);
  Fault dma(uint32_t word, const DmaOperation& operation);
  void wait(bool kernels, uint32_t outstanding);
  /// Retires all operations; call at STOP and before another job.
  void stop() { kernels_.count = dmas_.count = 0; }

  /// Returns an observer that passes the operations of sim::run to this checker.
  [[nodiscard]] Observer observer();
  [[nodiscard]] const Fault& first() const { return first_; }
  [[nodiscard]] uint32_t count() const { return found_; }

 private:
  struct Outstanding {
    uint32_t word = 0;
    bool continues = false;  // part of the same chain as the previous operation
    Accesses accesses;
  };
  template <uint32_t kMost>
  struct Queue {
    Outstanding items[kMost];
    uint32_t count = 0;
    void drop(uint32_t oldest) {
      for (uint32_t i = oldest; i < count; ++i) items[i - oldest] = items[i];
      count -= oldest;
    }
    /// Retires all but the newest `most` kernels or DMAs.
    void retire(uint32_t most) {
      uint32_t kept = count;
      for (; most > 0 && kept > 0; --most) {
        --kept;
        while (kept > 0 && items[kept].continues) --kept;
      }
      drop(kept);
    }
    Outstanding& add() {
      if (count == kMost) drop(1);  // a chain longer than kChainMost
      return items[count++];
    }
  };

  template <uint32_t kMost>
  Fault check(uint32_t word, const Accesses& accesses, const Queue<kMost>& other);
  Fault check_block_dependency(uint32_t word, const KernelOperation& operation);
  Fault found(uint32_t word, uint32_t other_word, const char* detail);

  const Config& config_;
  Queue<kKernelsOutstanding * kChainMost> kernels_;
  Queue<kDmasOutstandingMost> dmas_;
  KernelOperation previous_;  // newest operation in kernels_
  Fault first_;
  uint32_t found_ = 0;
};

}  // namespace thimble::ethos_u::sim
