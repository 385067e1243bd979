// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memories of a part that hold the operands of a program's calls, and the core cycles that the
// calls wait for them (docs/cycles.md, "Wait states"). `compile`, `fit`, `diff` and `run --profile`
// use the same rule.

#include <vector>

#include "driver/compile.h"
#include "engine/part.h"
#include "formats/pte/program.h"

namespace thimble::driver {

/// Null: the part has no such memory.
struct OperandMemories {
  const engine::PartMemory* arena = nullptr;
  const engine::PartMemory* constants = nullptr;  // of arguments that `arguments` lacks
  const engine::PartMemory* code = nullptr;
  const engine::PartMemory* kernel_code = nullptr;  // of kernels alone; null: `code`
  /// By instruction of the program and argument; only if single constants are placed. Null: no
  /// constant.
  std::vector<std::vector<const engine::PartMemory*>> arguments;

  [[nodiscard]] const engine::PartMemory* code_of_kernels() const {
    return kernel_code != nullptr ? kernel_code : code;
  }
  /// All memories with operands, each once.
  [[nodiscard]] std::vector<const engine::PartMemory*> all() const;
};

/// Returns the memories that the placement names. Without one, constants and code are in the first
/// memory that is kept without power, and the arena in the first other one. The result refers to
/// the part. `program`: the one that was placed; null without a placement.
[[nodiscard]] OperandMemories operand_memories(const engine::Part& part,
                                               const std::optional<ObjectPlacement>& placement,
                                               const formats::pte::Program* program);

/// Returns true if the part's file states what the wait states of operands depend on.
[[nodiscard]] bool waits_known(const engine::PartMemory& memory);

/// Returns the core cycles that a call waits for a memory with operands of `bytes` bytes, of which
/// it accesses `accessed` bytes. Without stated wait states, the further cycles of each word, or
/// zero. A prefetch does not count: flash accelerators read instructions ahead, not data.
[[nodiscard]] double wait_cycles(const engine::PartMemory& memory, const engine::Core& core,
                                 int64_t bytes, int64_t accessed);

/// Returns the core cycles that a call waits for its operands. `instruction`: index of the call in
/// the program.
[[nodiscard]] double wait_cycles(const engine::Lowered& lowered, const engine::KernelCall& call,
                                 size_t instruction, const engine::Core& core,
                                 const OperandMemories& memories);

}  // namespace thimble::driver
