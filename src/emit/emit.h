#pragma once
// Writes a lowered graph and its memory plan as a `.pte`.
//
// Equal values (integers, lists, planned tensors, constants) are written once. Each input has an
// entry of its own.

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "emit/schedule.h"
#include "formats/pte/io_names.h"
#include "formats/pte/program.h"
#include "target/target.h"

namespace thimble::emit {

struct Emitted {
  formats::pte::Program program;
  Bytes bytes;                 // the file
  int64_t constant_bytes = 0;  // size of weights and parameters, each counted once
};

struct EmitOptions {
  target::Dialect dialect = target::Dialect::kNative;
  bool names = false;                                            // write the entry of layers.h
  std::optional<formats::pte::IoNames> io_names = std::nullopt;  // write the entry of io_names.h
};

[[nodiscard]] Result<Emitted> emit(const target::Lowered& lowered, const Schedule& schedule,
                                   const target::Target& target, const EmitOptions& options);

}  // namespace thimble::emit
