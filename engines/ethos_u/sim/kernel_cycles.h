// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycles and traffic of one kernel according to Vela's published model: steps of the MAC array and
// elements of the output stage per OFM block, and bytes through each AXI port. Constants:
// timing.def. Concurrency of kernels and DMAs: timeline.h.

#include "engines/ethos_u/isa/system.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// AXI0 (SRAM) and AXI1 (external memory).
inline constexpr uint32_t kPorts = 2;

/// Returns the port of a region in a memory mode.
[[nodiscard]] uint32_t port_of(MemoryMode mode, uint8_t region);

struct PortBytes {
  double of[kPorts] = {};
};

struct KernelCycles {
  double multiply = 0;      // per block
  double output = 0;        // per block
  double issue = 0;         // per block; lower bound of the block's cycles
  double blocks = 0;        // partial blocks at the end of an axis count as fractions
  double fill = 0;          // before the first product: input of the first block
  double drain = 0;         // after the last product: output of the last block
  PortBytes read, written;  // including burst overhead
  uint64_t macs = 0;

  /// Returns the cycles from the first product to the last, with unlimited memory bandwidth.
  [[nodiscard]] double compute() const;
};

[[nodiscard]] KernelCycles kernel_cycles(const Config& config, const System& system,
                                         MemoryMode mode, const KernelOperation& operation);

struct DmaCycles {
  double latency = 0;
  PortBytes read, written;
};
[[nodiscard]] DmaCycles dma_cycles(const System& system, MemoryMode mode,
                                   const DmaOperation& operation);

}  // namespace thimble::ethos_u::sim
