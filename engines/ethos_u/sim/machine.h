#pragma once
// The simulator: runs the command stream of a driver payload on memory that the caller gives.
//
//   sim::Job job = {config, stream words, regions, ...};
//   sim::Fault fault = sim::run(job);
//   if (fault.kind != sim::FaultKind::kNone) ... fault.word is the offset in the stream
//
// Freestanding: no heap, no containers; workspace_bytes() says what a stream needs beside its
// regions. docs/ethos-u.md holds the facts, README.md what no open judge has settled.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/fault.h"
#include "engines/ethos_u/sim/memory.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// Called for each operation in the order of issue, before it runs. Null = not wanted.
struct Observer {
  void* user = nullptr;
  void (*kernel)(void* user, uint32_t word, const KernelOperation& operation) = nullptr;
  void (*dma)(void* user, uint32_t word, const DmaOperation& operation) = nullptr;
  void (*wait)(void* user, uint32_t word, bool kernels, uint32_t outstanding) = nullptr;
};

struct Job {
  const Config* config = nullptr;
  const uint32_t* words = nullptr;
  uint32_t word_count = 0;
  Region regions[kRegions];
  uint8_t* workspace = nullptr;
  size_t workspace_bytes = 0;
  uint32_t max_branches = 1U << 20;
  uint64_t max_work = uint64_t{1} << 44;  // products and bytes, of all operations together
  const Observer* observer = nullptr;
  bool slow = false;  // only the general paths, which judge the fast ones
};

[[nodiscard]] Fault run(const Job& job);

/// Bytes of workspace that the stream needs, at most; a fault if it cannot be read.
[[nodiscard]] Fault workspace_bytes(const Config& config, const uint32_t* words,
                                    uint32_t word_count, size_t* bytes);

}  // namespace thimble::ethos_u::sim
