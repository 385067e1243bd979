#pragma once
// Weights on their way: where in the order of kernels each copy to the SRAM begins, and what the
// whole takes.
//
// A copy runs beside the kernels. It should end when its kernel begins, and not begin sooner than
// needed, because its buffer is memory until then: copies are laid from the last to the first, each
// as late as possible without being late, or later where there is no room.

#include <vector>

#include "target/ethos_u/cost.h"
#include "target/ethos_u/draft.h"
#include "target/ethos_u/network.h"

namespace thimble::target::ethos_u {

/// A copy of one slice; its bytes and what it takes.
struct Copying {
  int op = -1, slice = 0;
  int64_t bytes = 0;
  double cycles = 0;
};

/// Kernels in their order, what each takes, and the memory that is left beside the tensors.
struct Kernels {
  std::vector<Step> steps;
  std::vector<double> cycles;
  std::vector<int64_t> room;
};

/// Steps of kernels and copies. -1, or an operation of which a slice has no room beside its kernel.
[[nodiscard]] int insert_copies(Kernels kernels, const std::vector<Copying>& copies,
                                std::vector<Step>* steps);

/// Cycles until the last kernel ends. `cycles` of kernels and copies by step.
[[nodiscard]] double timeline(const Config& config, const std::vector<Step>& steps,
                              const std::vector<double>& cycles);

/// Bytes of tensors that live at each step, of those that count against the budget.
[[nodiscard]] std::vector<int64_t> live_bytes(const Network& network, const Draft& draft,
                                              const std::vector<bool>& counted);

}  // namespace thimble::target::ethos_u
