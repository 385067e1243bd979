#pragma once
// What one kernel asks of the processor and of the memories, by the published model: per block of
// the OFM, steps of the multipliers and elements of the output stage; bytes that go through the
// ports. Constants: timing.def. How kernels and DMAs then share time: timeline.h.

#include "engines/ethos_u/isa/system.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// AXI0 and AXI1: the SRAM's and the other memory's.
inline constexpr uint32_t kPorts = 2;

/// Port of a region in a memory mode.
[[nodiscard]] uint32_t port_of(MemoryMode mode, uint8_t region);

struct Bytes {
  double of[kPorts] = {};
};

struct KernelCycles {
  double multiply = 0;  // of a block
  double output = 0;    // of a block
  double issue = 0;     // of a block, the least the block can take
  double blocks = 0;    // whole ones; the last ones of an axis count by what they have
  double fill = 0;      // before the multipliers can start: the first block's input
  double drain = 0;     // after they have stopped: the last block's output
  Bytes read, written;  // with what bursts waste
  uint64_t macs = 0;

  /// From the first product to the last, if memory were free.
  [[nodiscard]] double compute() const;
};

[[nodiscard]] KernelCycles kernel_cycles(const Config& config, const System& system,
                                         MemoryMode mode, const KernelOperation& operation);

struct DmaCycles {
  double latency = 0;
  Bytes read, written;
};
[[nodiscard]] DmaCycles dma_cycles(const System& system, MemoryMode mode,
                                   const DmaOperation& operation);

}  // namespace thimble::ethos_u::sim
