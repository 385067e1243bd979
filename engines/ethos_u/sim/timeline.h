#pragma once
// The timeline: when each operation of a stream runs, and what it waits for.
//
// The stream is issued in order. Kernels run one after another, DMAs run one after another, and the
// two beside each other; a wait, or an engine whose queue is full, holds the issue back. A kernel
// may begin while the one before it drains, if its BLOCKDEP is not 0. What runs at the same time
// shares the ports: each of the two gets what it asks for up to half of a port, and what the other
// leaves.
//
// What it is not: there are no caches, banks or refreshes, and no cost of reading the stream.
// docs/ethos-u.md, "Cycles", has what is published and what is not.

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
  OperationTime* operations = nullptr;  // may be null; `operation_capacity` of them
  uint32_t operation_capacity = 0;
};

struct Timeline {
  double cycles = 0;
  double kernel_cycles = 0, dma_cycles = 0;  // that the engines are busy
  Bytes read, written;                       // by port
  uint64_t macs = 0;
  uint32_t operation_count = 0;
};

/// A stream with branches is followed as if none were taken.
[[nodiscard]] Fault make_timeline(const TimelineJob& job, Timeline* timeline);

}  // namespace thimble::ethos_u::sim
