// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a lowered graph and its memory plan as a `.pte`.
//
// Equal values (integers, lists, planned tensors, constants) are written once. Each input has an
// entry of its own.

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"
#include "formats/pte/io_names.h"
#include "formats/pte/program.h"
#include "memory/memory_plan.h"

namespace thimble::emit {

struct Emitted {
  formats::pte::Program program;
  Bytes bytes;                 // the file
  int64_t constant_bytes = 0;  // size of weights and parameters, each counted once
};

struct EmitOptions {
  engine::Dialect dialect = engine::Dialect::kNative;
  bool layers = false;  // write the entry of layers.h
  /// Write the entry of formats/pte/io_names.h.
  std::optional<formats::pte::IoNames> io_names = std::nullopt;
};

/// Returns the program and the bytes of its file. kStock: an error if a call is not one of
/// ExecuTorch's operators.
[[nodiscard]] Result<Emitted> write_program(const engine::Lowered& lowered,
                                            const memory::MemoryPlan& memory_plan,
                                            const engine::Core& core, const EmitOptions& options);

/// A method of a file with several. The name of the graph is that of the method.
struct Method {
  const engine::Lowered* lowered = nullptr;
  const memory::MemoryPlan* memory_plan = nullptr;  // one of memory::plan_methods()
};

/// Returns a file with several methods, in Thimble's dialect. They have no delegates, names of at
/// most abi::kMethodNameMax bytes, and states with the same names, types and initial content. A
/// not-supported error states why records cannot represent a method.
[[nodiscard]] Result<Emitted> write_methods(std::span<const Method> methods,
                                            const engine::Core& core);

}  // namespace thimble::emit
