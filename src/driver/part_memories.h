// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memories of the part in the report: bytes that the program uses, and their limits.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "driver/compile.h"
#include "engine/part.h"
#include "formats/pte/program.h"

namespace thimble::driver {

/// Sizes in bytes by memory name: those of --memory, or else those of the part's file. A memory
/// without a stated size has no entry.
[[nodiscard]] std::map<std::string, int64_t> memory_sizes(const CompileOptions& options,
                                                          const engine::Part& part);

/// Size of the memory that holds the arena: of the SRAM, or on a part with memory speeds of the
/// largest memory that may hold it. Nothing if it is not known.
[[nodiscard]] std::optional<int64_t> ram_limit(const engine::Part& part,
                                               const std::map<std::string, int64_t>& sizes);

/// Returns true if --memory states the size that ram_limit() returns. Otherwise it is the size of
/// the part's memory.
[[nodiscard]] bool ram_limit_is_stated(const engine::Part& part, const CompileOptions& options);

/// Fills report->memories and the bytes of constants that NPUs read from RAM. On a part with memory
/// speeds, place_in_memories() fills the used bytes later.
void list_memories(const engine::Part& part, const engine::Lowered& lowered, CompileReport* report);

/// Returns the bytes of SRAM that the program needs; only for a part without memory speeds.
[[nodiscard]] int64_t sram_bytes_of(const CompileReport& report);

/// Sets the limits of report->memories. `sizes`: result of memory_sizes().
[[nodiscard]] Status set_memory_sizes(const std::map<std::string, int64_t>& sizes,
                                      CompileReport* report);

/// Chooses a memory for each object (object_placement.h) if the part states the speed of its
/// memories. If a memory is too small, sets report->shortage.
[[nodiscard]] Status place_in_memories(const Compiled& compiled,
                                       const formats::pte::Program& program,
                                       const CompileOptions& options,
                                       const std::map<std::string, int64_t>& sizes,
                                       CompileReport* report);

}  // namespace thimble::driver
