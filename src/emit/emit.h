#pragma once
// Writes a lowered graph and its memory plan as a `.pte`.
//
// Equal values (integers, lists, planned tensors, constants) are written once. Each input has an
// entry of its own.

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "emit/memory_plan.h"
#include "engine/engine.h"
#include "formats/pte/io_names.h"
#include "formats/pte/program.h"

namespace thimble::emit {

struct Emitted {
  formats::pte::Program program;
  Bytes bytes;                 // the file
  int64_t constant_bytes = 0;  // size of weights and parameters, each counted once
};

struct EmitOptions {
  engine::Dialect dialect = engine::Dialect::kNative;
  bool names = false;                                            // with the entry of layers.h
  std::optional<formats::pte::IoNames> io_names = std::nullopt;  // with the entry of io_names.h
};

[[nodiscard]] Result<Emitted> emit(const engine::Lowered& lowered, const MemoryPlan& memory_plan,
                                   const engine::Core& target, const EmitOptions& options);

}  // namespace thimble::emit
