// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/adversary.h"

#include <string.h>

#include "engines/ethos_u/sim/decode.h"
#include "engines/ethos_u/sim/execute.h"
#include "engines/ethos_u/sim/hazard.h"
#include "engines/ethos_u/sim/stale_jobs.h"
#include "engines/ethos_u/sim/write_log.h"

namespace thimble::ethos_u::sim {
namespace {

struct PendingKernel {
  uint32_t word = 0;
  KernelOperation operation;
  WriteLog* log = nullptr;
};
struct PendingDma {
  uint32_t word = 0;
  DmaOperation operation;
  WriteLog* log = nullptr;
};

class Machine {
 public:
  Machine(const Job& job, Adversary mode) : job_(job), config_(*job.config), mode_(mode) {
    for (uint32_t i = 0; i < kRegions; ++i) memory_.set_region(i, job.regions[i]);
    workspace_.data = job.workspace;
    workspace_.bytes = job.workspace_bytes;
  }

  void set_buffer(uint8_t* memory, uint64_t kernel_log, uint64_t dma_log, uint64_t shadow);
  Fault run();

 private:
  Fault kernel(const Step& step);
  Fault dma(const Step& step);
  Fault retire_kernels(uint32_t most);
  Fault retire_dmas(uint32_t most);
  Fault compute_late_write(PendingKernel& pending);
  Fault compute(const KernelOperation& operation, WriteLog& log);

  const Job& job_;
  const Config& config_;
  Adversary mode_;
  Memory memory_;
  Workspace workspace_;
  PendingKernel kernels_[kKernelsOutstanding];
  uint32_t kernel_count_ = 0;
  PendingDma dmas_[kDmasOutstandingMost];
  uint32_t dma_count_ = 0;
  WriteLog kernel_logs_[kKernelsOutstanding + 1];  // the last log is for repeated executions
  WriteLog dma_logs_[kDmasOutstandingMost];
  uint32_t kernels_issued_ = 0, dmas_issued_ = 0;
  StaleJobs stale_;
};

void Machine::set_buffer(uint8_t* memory, uint64_t kernel_log, uint64_t dma_log, uint64_t shadow) {
  for (WriteLog& log : kernel_logs_) {
    log.set_buffer(memory, static_cast<size_t>(kernel_log));
    memory += kernel_log;
  }
  for (WriteLog& log : dma_logs_) {
    log.set_buffer(memory, static_cast<size_t>(dma_log));
    memory += dma_log;
  }
  stale_.set_buffer(memory, shadow);
}

Fault Machine::retire_kernels(uint32_t most) {
  while (kernel_count_ > most) {
    const PendingKernel& oldest = kernels_[0];
    Fault fault;
    if (mode_ == Adversary::kLateKernels) {
      fault = execute(config_, oldest.operation, memory_, workspace_);
    } else if (mode_ == Adversary::kLateWrites) {
      if (!oldest.log->commit(memory_)) fault = memory_.fault();
      if (overwrites_tables(config_, oldest.operation)) memory_.invalidate_tables();
    }
    fault.word = oldest.word;
    if (!fault.none()) return fault;
    for (uint32_t i = 1; i < kernel_count_; ++i) kernels_[i - 1] = kernels_[i];
    --kernel_count_;
  }
  return {};
}

Fault Machine::retire_dmas(uint32_t most) {
  while (dma_count_ > most) {
    const PendingDma& oldest = dmas_[0];
    Fault fault;
    if (mode_ == Adversary::kLateDmas) {
      fault = execute(config_, oldest.operation, memory_);
    } else if (mode_ == Adversary::kLateWrites) {
      if (!oldest.log->commit(memory_)) fault = memory_.fault();
    }
    fault.word = oldest.word;
    if (!fault.none()) return fault;
    for (uint32_t i = 1; i < dma_count_; ++i) dmas_[i - 1] = dmas_[i];
    --dma_count_;
  }
  return {};
}

Fault Machine::compute(const KernelOperation& operation, WriteLog& log) {
  log.clear();
  const WriteSink sink = log.sink();
  memory_.sink = &sink;
  const Fault fault = execute(config_, operation, memory_, workspace_);
  memory_.sink = nullptr;
  return fault;
}

/// Computes the kernel's writes. Each block is computed with only those writes of the previous
/// kernel that BLOCKDEP guarantees.
Fault Machine::compute_late_write(PendingKernel& pending) {
  const PendingKernel* before = kernel_count_ == 0 ? nullptr : &kernels_[kernel_count_ - 1];
  if (before != nullptr) before->log->exchange(memory_, true, nullptr);
  Fault fault = compute(pending.operation, *pending.log);
  if (before != nullptr) before->log->exchange(memory_, false, nullptr);
  if (!fault.none() || before == nullptr) return fault;
  if (!stale_.prepare(config_, before->operation, pending.operation)) return {};
  const bool flag = memory_.result_flag;
  WriteLog& trial = kernel_logs_[kKernelsOutstanding];
  for (uint32_t block = 0; stale_.choose(block); ++block) {
    const WriteLog::Filter seen = stale_.seen();
    before->log->exchange(memory_, true, &seen);
    fault = compute(pending.operation, trial);
    before->log->exchange(memory_, false, &seen);
    if (!fault.none()) return fault;
    if (!pending.log->patch(trial, stale_.own())) {
      return fault_of(FaultKind::kWorkspace,
                      "a kernel writes to other addresses when it runs again");
    }
  }
  memory_.result_flag = flag;
  return {};
}

Fault Machine::kernel(const Step& step) {
  if (const Fault fault = retire_kernels(kKernelsOutstanding - 1); !fault.none()) return fault;
  PendingKernel& pending = kernels_[kernel_count_];
  pending.word = step.word;
  pending.operation = step.kernel;
  pending.log = &kernel_logs_[kernels_issued_++ % kKernelsOutstanding];
  Fault fault;
  if (mode_ == Adversary::kLateDmas) {
    fault = execute(config_, step.kernel, memory_, workspace_);
  } else if (mode_ == Adversary::kLateWrites) {
    fault = compute_late_write(pending);
  }
  ++kernel_count_;
  fault.word = step.word;
  return fault;
}

Fault Machine::dma(const Step& step) {
  if (const Fault fault = retire_dmas(dmas_outstanding(config_.generation) - 1); !fault.none()) {
    return fault;
  }
  PendingDma& pending = dmas_[dma_count_];
  pending.word = step.word;
  pending.operation = step.dma;
  pending.log = &dma_logs_[dmas_issued_++ % kDmasOutstandingMost];
  Fault fault;
  if (mode_ == Adversary::kLateKernels) {
    fault = execute(config_, step.dma, memory_);
  } else if (mode_ == Adversary::kLateWrites) {
    // A DMA reads what earlier DMAs wrote.
    for (uint32_t i = 0; i < dma_count_; ++i) dmas_[i].log->exchange(memory_, true, nullptr);
    pending.log->clear();
    const WriteSink sink = pending.log->sink();
    memory_.sink = &sink;
    fault = execute(config_, step.dma, memory_);
    memory_.sink = nullptr;
    for (uint32_t i = dma_count_; i-- > 0;) dmas_[i].log->exchange(memory_, false, nullptr);
  }
  ++dma_count_;
  fault.word = step.word;
  return fault;
}

Fault Machine::run() {
  Decoder decoder(config_, job_.words, job_.word_count);
  Step step;
  for (;;) {
    if (const Fault fault = decoder.next(&step); !fault.none()) return fault;
    Fault fault;
    switch (step.kind) {
      case StepKind::kStop:
        fault = retire_kernels(0);
        return fault.none() ? retire_dmas(0) : fault;
      case StepKind::kKernel:
        fault = kernel(step);
        break;
      case StepKind::kDma:
        fault = dma(step);
        break;
      case StepKind::kKernelWait:
        fault = retire_kernels(step.parameter);
        break;
      case StepKind::kDmaWait:
        fault = retire_dmas(step.parameter);
        break;
      case StepKind::kBranch:
        fault = retire_kernels(0);  // a branch tests the result of the last kernel
        if (!fault.none()) return fault;
        if (step.branch == BranchMode::kAlways || memory_.result_flag) {
          fault = decoder.branch(step.target, job_.max_repeat_cost);
          fault.word = step.word;
        }
        break;
      case StepKind::kIrq:
      case StepKind::kPmu:
        break;
    }
    if (!fault.none()) return fault;
  }
}

struct Room {
  uint64_t kernel_log = 0, dma_log = 0, shadow = 0;
  [[nodiscard]] uint64_t total() const {
    return (kKernelsOutstanding + 1) * kernel_log + kDmasOutstandingMost * dma_log +
           StaleJobs::kShadows * shadow;
  }
};

uint64_t rounded(uint64_t bytes) {
  return (bytes + 15) / 16 * 16;
}

Fault room_of(const Job& job, Room* room) {
  Decoder decoder(*job.config, job.words, job.word_count);
  Step step;
  for (;;) {
    if (const Fault fault = decoder.next(&step); !fault.none()) return fault;
    if (step.kind == StepKind::kStop) break;
    if (step.kind == StepKind::kKernel) {
      const FeatureMap& ofm = step.kernel.ofm;
      const uint64_t elements = uint64_t{ofm.height} * ofm.width * ofm.depth;
      const uint64_t log = WriteLog::bytes_for(elements * (ofm.bits / 8), elements);
      if (log > room->kernel_log) room->kernel_log = log;
    } else if (step.kind == StepKind::kDma) {
      const uint64_t rows = uint64_t{step.dma.size0} * step.dma.size1;
      const uint64_t log =
          WriteLog::bytes_for(rows * step.dma.length, rows * (step.dma.length / 256 + 1));
      if (log > room->dma_log) room->dma_log = log;
    }
  }
  room->kernel_log = rounded(room->kernel_log);
  room->dma_log = rounded(room->dma_log);
  for (const ByteRegion& region : job.regions) {
    if (region.bytes > room->shadow) room->shadow = region.bytes;
  }
  return {};
}

}  // namespace

Fault adversary_bytes(const Job& job, size_t* bytes) {
  Room room;
  if (const Fault fault = room_of(job, &room); !fault.none()) return fault;
  *bytes = static_cast<size_t>(room.total());
  return {};
}

Fault run_adversary(const Job& job, Adversary mode, uint8_t* memory, size_t bytes) {
  Room room;
  if (const Fault fault = room_of(job, &room); !fault.none()) return fault;
  if (room.total() > bytes) {
    return fault_of(FaultKind::kWorkspace, "the buffer for delayed writes is too small");
  }
  Machine machine(job, mode);
  machine.set_buffer(memory, room.kernel_log, room.dma_log, room.shadow);
  return machine.run();
}

}  // namespace thimble::ethos_u::sim
