#pragma once
// The hazard checker: finds reads and writes that nothing orders.
//
// The processor has two engines, kernels and DMA. Each works on its operations in their order, but
// nothing orders one engine against the other except KERNEL_WAIT and DMA_WAIT. An operation is
// outstanding from its issue until a wait, the limit of its engine or STOP retires it; while it is
// outstanding, its reads and writes may happen at any moment. Two outstanding operations of
// different engines that meet, with a write among the two, are a hazard.
//
// Kernels overlap with the kernel before them: when a job starts, the BLOCKDEP jobs before it may
// still be unwritten. A job that reads what one of those writes is a hazard too.
//
//   HazardChecker checker(config);
//   Observer observer = checker.observer();   // give it to sim::run
//   ... checker.first(), checker.count()
//
// No memory beside the object: footprints are compared as what they are (footprint.h).

#include "engines/ethos_u/sim/footprint.h"
#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {

/// How many operations of an engine may be outstanding. A chain counts as one kernel, so that
/// none of its operations is done before the last.
inline constexpr uint32_t kKernelsOutstanding = 2;
inline constexpr uint32_t kChainMost = 4;  // operations of a chain
inline constexpr uint32_t kDmasOutstandingMost = 4;
[[nodiscard]] constexpr uint32_t dmas_outstanding(Generation generation) {
  return generation == Generation::kU55 ? 1 : generation == Generation::kU65 ? 2 : 4;
}

class HazardChecker {
 public:
  explicit HazardChecker(const Config& config) : config_(config) {}

  /// In the order of the stream. The fault names the command and the one it collides with; the
  /// checker goes on after it.
  Fault kernel(uint32_t word, const KernelOperation& operation);
  Fault dma(uint32_t word, const DmaOperation& operation);
  void wait(bool kernels, uint32_t outstanding);
  /// STOP, or the start of another job.
  void stop() { kernels_.count = dmas_.count = 0; }

  /// Takes its operations from sim::run.
  [[nodiscard]] Observer observer();
  [[nodiscard]] const Fault& first() const { return first_; }
  [[nodiscard]] uint32_t count() const { return found_; }

 private:
  struct Outstanding {
    uint32_t word = 0;
    bool continues = false;  // the chain of the one before it
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
    /// Leaves the newest `most`.
    void retire(uint32_t most) {
      uint32_t kept = count;
      for (; most > 0 && kept > 0; --most) {
        --kept;
        while (kept > 0 && items[kept].continues) --kept;
      }
      drop(kept);
    }
    Outstanding& add() {
      if (count == kMost) drop(1);  // a chain that is longer than any can be
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
  KernelOperation previous_;  // the newest of kernels_
  Fault first_;
  uint32_t found_ = 0;
};

}  // namespace thimble::ethos_u::sim
