#pragma once
// What the scheduler decides; assemble() makes the schedule of it: encodes weights, gives
// addresses.

#include <memory>
#include <vector>

#include "base/result.h"
#include "target/ethos_u/compile.h"
#include "target/ethos_u/plan.h"
#include "target/ethos_u/weights/weights.h"

namespace thimble::target::ethos_u {

struct TensorDraft {
  Format format = Format::kNhwc;
  int64_t rows = 0;    // held at a time; the height: all
  bool fast = false;   // Dedicated_Sram: in the fast scratch
  int same_place = -1; // lies where that tensor lies (an elementwise operation in place)
};

struct OpDraft {
  Block block;
  bool fast_weights = false, sparse = false;
  std::vector<int64_t> starts;  // first channels of the slices; empty: no weights
  std::vector<int64_t> slice_bytes;  // estimated
  bool buffered = false;        // slices are copied to the SRAM, by steps of kWeightDma
  int cascade = -1;
};

struct Draft {
  std::vector<TensorDraft> tensors;
  std::vector<OpDraft> ops;
  std::vector<Step> steps;
};

/// The encoders of a program's operations; what they encoded once is there for the next draft.
class Encoders {
 public:
  explicit Encoders(const NpuProgram& program);
  /// Null for an operation without weights.
  [[nodiscard]] WeightEncoder* of(int op) const { return encoders_[static_cast<size_t>(op)].get(); }

 private:
  std::vector<std::unique_ptr<WeightEncoder>> encoders_;
};
[[nodiscard]] WeightOptions weight_options(const NpuProgram& program, int op, const OpDraft& draft);

/// Without encoders the weights are not encoded: places and sizes are right as far as the estimated
/// sizes are.
[[nodiscard]] Result<Schedule> assemble(const NpuProgram& program, const ScheduleOptions& options,
                                        const Draft& draft, Encoders* encoders);

/// Bytes of the memory that counts against the budget.
[[nodiscard]] int64_t budgeted_bytes(const Schedule& schedule, MemoryMode mode);

}  // namespace thimble::target::ethos_u
