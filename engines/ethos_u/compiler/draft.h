// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of the scheduler. assemble() encodes the weights, assigns offsets to constants and
// produces the final schedule.

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
  int64_t rows = 0;           // rows in memory at a time; the full height unless a rolling buffer
  bool fast = false;          // Dedicated_Sram: stored in the fast scratch
  int shares_buffer_of = -1;  // tensor whose buffer it shares (in-place operation); -1: none
  int64_t address = 0;
};

struct OpDraft {
  Block block;
  bool fast_weights = false, sparse = false;
  std::vector<int64_t> starts;         // first channel of each slice; empty: no weights
  std::vector<int64_t> slice_bytes;    // estimated bytes reserved for each slice
  std::vector<int64_t> slice_address;  // address of each copied slice
  bool buffered = false;               // slices are copied to SRAM by kWeightDma steps
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

/// The weight encoders of a program's operations. They cache encoded slices across drafts.
class Encoders {
 public:
  explicit Encoders(const NpuProgram& program);
  /// Returns null for an operation without weights.
  [[nodiscard]] WeightEncoder* of(int op) const { return encoders_[static_cast<size_t>(op)].get(); }

 private:
  std::vector<std::unique_ptr<WeightEncoder>> encoders_;
};
[[nodiscard]] WeightOptions weight_options(const NpuProgram& program, int op, const OpDraft& draft);

/// Returns nullopt if an encoded slice is longer than the reserved bytes; `draft` then contains the
/// exact lengths.
[[nodiscard]] Result<std::optional<Schedule>> assemble(const NpuProgram& program, Draft* draft,
                                                       Encoders* encoders);

}  // namespace thimble::engine::ethos_u
