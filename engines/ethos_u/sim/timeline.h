// SPDX-License-Identifier: Apache-2.0
#pragma once
// The timeline: computes when each operation of a stream runs and what limits it.
//
// Commands are issued in order. Kernels run one after another, DMAs run one after another, and a
// kernel can run at the same time as a DMA. A wait, or an engine with a full queue, delays the
// issue. A kernel may start while the previous kernel drains, if its BLOCKDEP is not 0. Concurrent
// operations share the ports: each gets the bandwidth it requests up to half of a port, plus what
// the other leaves unused.
//
// Not modelled: caches, banks, refresh, and reading the stream. docs/ethos-u.md, "Cycles", lists
// what is published and what is not.

#include "engines/ethos_u/sim/kernel_cycles.h"
#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {

enum class Bound : uint8_t { kMultiply, kOutput, kIssue, kSramPort, kExternalPort, kLatency };
[[nodiscard]] const char* bound_name(Bound bound);

struct OperationTime {
  uint32_t word = 0;
  bool kernel = false;
  double start = 0, end = 0;  // cycles since the start of the stream
  Bound bound = Bound::kMultiply;
  uint64_t macs = 0;
};

struct TimelineJob {
  const Config* config = nullptr;
  const System* system = nullptr;
  MemoryMode mode = MemoryMode::kSharedSram;
  const uint32_t* words = nullptr;
  uint32_t word_count = 0;
  OperationTime* operations = nullptr;  // may be null; array of `operation_capacity`
  uint32_t operation_capacity = 0;
};

struct Timeline {
  double cycles = 0;
  double kernel_cycles = 0, dma_cycles = 0;  // cycles in which the engine is busy
  PortBytes read, written;                   // per port
  uint64_t macs = 0;
  uint32_t operation_count = 0;
};

/// Computes the timeline. Branches of the stream are treated as not taken.
[[nodiscard]] Fault make_timeline(const TimelineJob& job, Timeline* timeline);

}  // namespace thimble::ethos_u::sim
