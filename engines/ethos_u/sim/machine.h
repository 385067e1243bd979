// SPDX-License-Identifier: Apache-2.0
#pragma once
// The simulator: executes the command stream of a driver payload on the caller's memory.
//
//   sim::Job job = {config, stream words, regions, ...};
//   sim::Fault fault = sim::run(job);
//   if (fault.kind != sim::FaultKind::kNone) ... fault.word is the offset in the stream
//
// Freestanding: no heap, no containers. workspace_bytes() returns the memory that a stream needs in
// addition to its regions. Facts: docs/ethos-u.md. Open questions: README.md.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/fault.h"
#include "engines/ethos_u/sim/memory.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// Called for each operation in the order of issue, before it runs. A null function is not called.
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
  ByteRegion regions[kRegions];
  uint8_t* workspace = nullptr;
  size_t workspace_bytes = 0;
  uint64_t max_repeat_cost = uint64_t{1} << 22;  // of words that branches repeat: Decoder::branch()
  uint64_t max_cost = uint64_t{1} << 44;         // sum of products and bytes of all operations
  const Observer* observer = nullptr;
  bool slow = false;  // general paths only; used to test the fast paths
};

[[nodiscard]] Fault run(const Job& job);

/// Computes an upper bound of the workspace in bytes; returns a fault if the stream is invalid.
[[nodiscard]] Fault workspace_bytes(const Config& config, const uint32_t* words,
                                    uint32_t word_count, size_t* bytes);

}  // namespace thimble::ethos_u::sim
