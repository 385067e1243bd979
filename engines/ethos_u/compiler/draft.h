#pragma once
// What the scheduler decides; assemble() makes the schedule of it: encodes weights, lays constants.

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/plan.h"
#include "engines/ethos_u/compiler/weights/weights.h"

namespace thimble::engine::ethos_u {

struct TensorDraft {
  Format format = Format::kNhwc;
  int64_t rows = 0;     // held at a time; the height: all
  bool fast = false;    // Dedicated_Sram: in the fast scratch
  int same_place = -1;  // lies where that tensor lies (an elementwise operation in place)
  int64_t address = 0;
};

struct OpDraft {
  Block block;
  bool fast_weights = false, sparse = false;
  std::vector<int64_t> starts;         // first channels of the slices; empty: no weights
  std::vector<int64_t> slice_bytes;    // estimated, what is kept for them
  std::vector<int64_t> slice_address;  // of those that are copied
  bool buffered = false;               // slices are copied to the SRAM, by steps of kWeightDma
  int cascade = -1;
};

struct Draft {
  std::vector<TensorDraft> tensors;
  std::vector<OpDraft> ops;
  std::vector<Step> steps;
  int64_t arena_bytes = 0, fast_bytes = 0;
  [[nodiscard]] int64_t budgeted(MemoryMode mode) const {
    return mode == MemoryMode::kDedicatedSram ? fast_bytes : arena_bytes;
  }
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

/// Nothing if a slice came out longer than what is kept for it: `draft` then has the true lengths.
[[nodiscard]] Result<std::optional<Schedule>> assemble(const NpuProgram& program, Draft* draft,
                                                       Encoders* encoders);

}  // namespace thimble::engine::ethos_u
