// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weight prefetch: determines where each copy to SRAM starts in the order of kernels, and computes
// the total cycles.
//
// A copy runs in parallel with kernels. Its buffer is allocated from the kernel after which the
// copy is issued to the last kernel that reads it. Copies are issued in the order of their use,
// each as soon as the DMA engine is idle and its buffer is free until its use. This hides as much
// copy time as the budget allows. To use less memory, lower the budget.

#include <vector>

#include "engines/ethos_u/compiler/cost.h"
#include "engines/ethos_u/compiler/draft.h"
#include "engines/ethos_u/compiler/program_analysis.h"
#include "memory/arena.h"

namespace thimble::engine::ethos_u {

/// Copy of one slice: its size and cycles.
struct WeightCopy {
  int op = -1, slice = 0;
  int64_t bytes = 0;
  double cycles = 0;
  int64_t address = -1;  // set by insert_copies()
};

/// Kernels in order and the cycles of each.
struct Kernels {
  std::vector<Step> steps;
  std::vector<double> cycles;
  std::vector<double> tables;  // cycles to copy the LUT needed by the kernel, or 0
};

struct PrefetchPlan {
  int failed = -1;  // operation with a slice for which no buffer was found; -1: none
  std::vector<Step> steps;
  int64_t peak = 0;   // bytes
  double cycles = 0;  // end of the last kernel or copy
};
/// Inserts the copies between the kernels and sets their addresses.
[[nodiscard]] PrefetchPlan insert_copies(const Config& config, Kernels kernels, memory::Arena arena,
                                         std::vector<WeightCopy>* copies);

}  // namespace thimble::engine::ethos_u
