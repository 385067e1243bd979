#pragma once
// Which memory of the part each object goes to, where the part's file says how fast its memories
// are: the arena, and the constants (each array of the C, or the whole file, whose runtime has its
// state behind the arena), by the bytes that an inference accesses (target/accesses.h) and what
// they cost there (plan/memories.h).

#include <map>
#include <string>

#include "driver/compile.h"
#include "formats/pte/program.h"

namespace thimble::driver {

/// Fills report->placement and what report->memories use. `sizes` of memories are the user's, or
/// else the part's. What fits nowhere is `unsupported`, with its name and the bytes that are
/// missing.
[[nodiscard]] Status place_objects(const Compiled& compiled, const formats::pte::Program& program,
                                   bool c_output, const std::map<std::string, int64_t>& sizes,
                                   CompileReport* report);

}  // namespace thimble::driver
