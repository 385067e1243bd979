// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycles of instruction sequences on a core, without wait states of memories.
//
// Two models, each a table with its sources: cores that finish an instruction before the next one
// starts (sequential.def), and cores that issue two instructions per cycle or overlap the beats of
// vector instructions (scoreboard.def). docs/cycles.md compares both with llvm-mca, with blocks
// counted by hand and with results of boards.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cycles/instruction.h"

namespace thimble::cycles {

/// Cycles of control flow, which do not depend on the instructions around a branch.
struct ControlFlow {
  int refill = 0;         // cycles to refill the pipeline after a taken branch
  int wide_target = 0;    // additional ones if the target is a 32-bit instruction in two fetches
  bool predicts = false;  // direct branches cost refill only if they are predicted wrongly
  bool folds_it = false;  // IT takes no cycle after a 16-bit instruction
};

class CoreTiming {
 public:
  virtual ~CoreTiming() = default;
  /// Returns the cycles that `block` adds if it is executed after `before`, which may be empty;
  /// without the cost of a branch between them.
  [[nodiscard]] virtual int64_t cycles(std::span<const Insn> before,
                                       std::span<const Insn> block) const = 0;
  [[nodiscard]] const ControlFlow& control_flow() const { return control_flow_; }

 protected:
  explicit CoreTiming(const ControlFlow& control_flow) : control_flow_(control_flow) {}

 private:
  ControlFlow control_flow_;
};

/// Returns the model with this name ("m4", engine::Core::timing); null if there is none.
[[nodiscard]] const CoreTiming* core_timing(std::string_view name);

/// Names of the tables: "m0plus", "m3", "m4" and "m7", "m55", "m85".
[[nodiscard]] std::unique_ptr<CoreTiming> sequential_timing(std::string_view table,
                                                            const ControlFlow& control_flow);
[[nodiscard]] std::unique_ptr<CoreTiming> scoreboard_timing(std::string_view table,
                                                            const ControlFlow& control_flow);

}  // namespace thimble::cycles
