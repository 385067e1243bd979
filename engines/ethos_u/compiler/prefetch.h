#pragma once
// Weights on their way: where in the order of kernels each copy to the SRAM begins, and what the
// whole takes.
//
// A copy runs beside the kernels; its buffer is memory from the kernel behind which it is issued to
// the last that reads it. Copies go in the order of their use, each as soon as the engine is free
// and there is room until its use. Under a budget this is the most that can be hidden; where less
// memory is wanted the budget is made smaller.

#include <vector>

#include "engines/ethos_u/compiler/arena.h"
#include "engines/ethos_u/compiler/cost.h"
#include "engines/ethos_u/compiler/draft.h"
#include "engines/ethos_u/compiler/network.h"

namespace thimble::engine::ethos_u {

/// A copy of one slice; its bytes and what it takes.
struct Copying {
  int op = -1, slice = 0;
  int64_t bytes = 0;
  double cycles = 0;
  int64_t address = -1;  // given by insert_copies()
};

/// Kernels in their order and what each takes.
struct Kernels {
  std::vector<Step> steps;
  std::vector<double> cycles;
  std::vector<double> tables;  // cycles of the copy of a table that must come first, or 0
};

struct Inserted {
  int failed = -1;  // an operation of which a slice has no room beside its kernel
  std::vector<Step> steps;
  int64_t peak = 0;   // bytes
  double cycles = 0;  // until the last kernel ends
};
/// Steps of kernels and copies; addresses of the copies.
[[nodiscard]] Inserted insert_copies(const Config& config, Kernels kernels, Arena arena,
                                     std::vector<Copying>* copies);

}  // namespace thimble::engine::ethos_u
