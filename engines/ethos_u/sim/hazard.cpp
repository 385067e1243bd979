// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/hazard.h"

#include "engines/ethos_u/sim/execute.h"
#include "engines/ethos_u/sim/jobs.h"

namespace thimble::ethos_u::sim {
namespace {

constexpr const char* kReadsUnwritten = "reads data that an operation may not have written yet";
constexpr const char* kOverwritesUnread = "overwrites data that an operation may not have read yet";
constexpr const char* kWritesTwice = "writes to bytes that an operation may not have written yet";
constexpr const char* kBlockDependency = "BLOCKDEP lets it read blocks that may not be written yet";
constexpr const char* kTableLost =
    "BLOCKDEP lets its accumulators overwrite a LUT that may still be in use";

/// Returns true if the operation is part of a chain, which counts as one kernel. Sums that are only
/// kept in the accumulators do not form a chain, because the previous kernel has completed its
/// reads (docs/ethos-u.md, "Order and outstanding operations").
bool in_chain(const KernelOperation& operation) {
  return operation.ifm.storage == Storage::kChained ||
         (operation.has_ifm2 && operation.ifm2.storage == Storage::kChained);
}

}  // namespace

Fault HazardChecker::found(uint32_t word, uint32_t other_word, const char* detail) {
  Fault fault = fault_of(FaultKind::kHazard, detail);
  fault.word = word;
  fault.other_word = other_word;
  if (found_++ == 0) first_ = fault;
  return fault;
}

template <uint32_t kMost>
Fault HazardChecker::check(uint32_t word, const Accesses& accesses, const Queue<kMost>& other) {
  for (uint32_t i = other.count; i-- > 0;) {
    const Accesses& earlier = other.items[i].accesses;
    const char* detail = nullptr;
    if (accesses.reads.overlaps(earlier.writes)) detail = kReadsUnwritten;
    if (detail == nullptr && accesses.writes.overlaps(earlier.reads)) detail = kOverwritesUnread;
    if (detail == nullptr && accesses.writes.overlaps(earlier.writes)) detail = kWritesTwice;
    if (detail != nullptr) return found(word, other.items[i].word, detail);
  }
  return {};
}

Fault HazardChecker::check_block_dependency(uint32_t word, const KernelOperation& operation) {
  if (kernels_.count == 0 || operation.blockdep == 0) return {};
  const uint32_t previous_word = kernels_.items[kernels_.count - 1].word;
  uint32_t address, bytes;
  if (overwrites_tables(config_, operation) && uses_table(config_, previous_, &address, &bytes)) {
    return found(word, previous_word, kTableLost);
  }
  const Jobs jobs(config_, operation);
  const Jobs before(config_, previous_);
  const uint64_t job_count = jobs.blocks() * jobs.jobs_per_block();
  for (uint32_t job = 0; job < operation.blockdep && job < job_count; ++job) {
    Footprint reads;
    jobs.reads(job, &reads);
    if (job == 0) {
      for (const Range& range : operation.weights) reads.add_range(range);
      for (const Range& range : operation.scales) reads.add_range(range);
    }
    for (uint32_t back = 0; back + job < operation.blockdep && back < before.blocks(); ++back) {
      Footprint writes;
      add_box(previous_.ofm, in_memory(previous_, before.block(before.blocks() - 1 - back)),
              &writes);
      if (reads.overlaps(writes)) return found(word, previous_word, kBlockDependency);
    }
  }
  return {};
}

Fault HazardChecker::kernel(uint32_t word, const KernelOperation& operation) {
  const Fault block = check_block_dependency(word, operation);
  const bool continues = kernels_.count != 0 && in_chain(operation);
  if (!continues) kernels_.retire(kKernelsOutstanding - 1);
  Outstanding& item = kernels_.add();
  item.word = word;
  item.continues = continues;
  accesses_of(config_, operation, &item.accesses);
  previous_ = operation;
  const Fault other = check(word, item.accesses, dmas_);
  return block.none() ? other : block;
}

Fault HazardChecker::dma(uint32_t word, const DmaOperation& operation) {
  dmas_.retire(dmas_outstanding(config_.generation) - 1);
  Outstanding& item = dmas_.add();
  item.word = word;
  accesses_of(config_, operation, &item.accesses);
  return check(word, item.accesses, kernels_);
}

void HazardChecker::wait(bool kernels, uint32_t outstanding) {
  if (kernels) {
    kernels_.retire(outstanding);
  } else {
    dmas_.retire(outstanding);
  }
}

Observer HazardChecker::observer() {
  Observer observer;
  observer.user = this;
  observer.kernel = [](void* user, uint32_t word, const KernelOperation& operation) {
    (void)static_cast<HazardChecker*>(user)->kernel(word, operation);
  };
  observer.dma = [](void* user, uint32_t word, const DmaOperation& operation) {
    (void)static_cast<HazardChecker*>(user)->dma(word, operation);
  };
  observer.wait = [](void* user, uint32_t, bool kernels, uint32_t outstanding) {
    static_cast<HazardChecker*>(user)->wait(kernels, outstanding);
  };
  return observer;
}

}  // namespace thimble::ethos_u::sim
