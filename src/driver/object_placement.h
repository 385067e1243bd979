// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses a memory of the part for each object, if the part's file states the speed of its
// memories. Objects are the arena and the constants: each array of the C output, or the whole file.
// With a file, the runtime state follows the arena. The choice depends on the bytes that an
// inference accesses (memory/accesses.h) and on their cost in each memory
// (memory/memory_assignment.h).

#include <map>
#include <string>

#include "driver/compile.h"
#include "formats/pte/program.h"

namespace thimble::driver {

/// Fills report->placement and the used bytes of report->memories. `sizes` of memories are the
/// user's options or else the sizes of the part. If an object fits in no memory, returns
/// `unsupported` with its name and the number of missing bytes.
[[nodiscard]] Status place_objects(const engine::Lowered& lowered, const engine::Part& part,
                                   const formats::pte::Program& program, bool c_output,
                                   const std::map<std::string, int64_t>& sizes,
                                   CompileReport* report);

}  // namespace thimble::driver
