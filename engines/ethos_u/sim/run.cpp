// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/decode.h"
#include "engines/ethos_u/sim/execute.h"
#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {
namespace {

Fault at(Fault fault, uint32_t word) {
  if (!fault.none()) fault.word = word;
  return fault;
}

void observe(const Observer* observer, const Step& step) {
  if (observer == nullptr) return;
  const bool kernels = step.kind == StepKind::kKernelWait;
  if (step.kind == StepKind::kKernel && observer->kernel != nullptr) {
    observer->kernel(observer->user, step.word, step.kernel);
  } else if (step.kind == StepKind::kDma && observer->dma != nullptr) {
    observer->dma(observer->user, step.word, step.dma);
  } else if ((kernels || step.kind == StepKind::kDmaWait) && observer->wait != nullptr) {
    observer->wait(observer->user, step.word, kernels, step.parameter);
  }
}

uint64_t cost_of(const Step& step) {
  if (step.kind == StepKind::kKernel) return cost_of(step.kernel);
  return step.kind == StepKind::kDma ? cost_of(step.dma) : 0;
}

}  // namespace

Fault run(const Job& job) {
  const Config& config = *job.config;
  Memory memory;
  for (uint32_t i = 0; i < kRegions; ++i) memory.set_region(i, job.regions[i]);
  Workspace workspace;
  workspace.data = job.workspace;
  workspace.bytes = job.workspace_bytes;
  workspace.slow = job.slow;
  Decoder decoder(config, job.words, job.word_count);
  Step step;
  uint64_t work_left = job.max_cost;
  for (;;) {
    if (const Fault fault = decoder.next(&step); !fault.none()) return fault;
    observe(job.observer, step);
    if (const uint64_t work = cost_of(step); work > work_left) {
      return at(fault_of(FaultKind::kCostLimit, "more work than the job allows"), step.word);
    } else {
      work_left -= work;
    }
    Fault fault;
    switch (step.kind) {
      case StepKind::kStop:
        return {};
      case StepKind::kKernel:
        fault = execute(config, step.kernel, memory, workspace);
        break;
      case StepKind::kDma:
        fault = execute(config, step.dma, memory);
        break;
      case StepKind::kBranch:
        if (step.branch == BranchMode::kAlways || memory.result_flag) {
          fault = decoder.branch(step.target, job.max_repeat_cost);
        }
        break;
      case StepKind::kKernelWait:
      case StepKind::kDmaWait:
      case StepKind::kIrq:
      case StepKind::kPmu:
        break;
    }
    if (!fault.none()) return at(fault, step.word);
  }
}

Fault workspace_bytes(const Config& config, const uint32_t* words, uint32_t word_count,
                      size_t* bytes) {
  constexpr size_t kMost = SIZE_MAX / 4;
  Decoder decoder(config, words, word_count);
  Step step;
  size_t most = 0, kept = 0;
  *bytes = 0;
  for (;;) {
    if (const Fault fault = decoder.next(&step); !fault.none()) return fault;
    if (step.kind == StepKind::kStop) break;
    if (step.kind != StepKind::kKernel) continue;
    size_t keeps = 0;
    const size_t needs = workspace_of(config, step.kernel, &keeps);
    if (!continues_chain(step.kernel)) kept = 0;
    kept = keeps > kMost - kept ? kMost : kept + keeps;
    const size_t sum = needs > kMost - kept ? kMost : needs + kept;
    if (sum > most) most = sum;
  }
  *bytes = most;
  return {};
}

}  // namespace thimble::ethos_u::sim
