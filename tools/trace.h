#pragma once
// `thimble run --profile --trace FILE`: the profile of a run as a trace.
//
// The core's lane has an event per instruction of the file, with the mean over all calls. A
// delegate call lasts as long as its NPU, whose operations are in the NPU's lane. A profile on the
// host has no instructions of the core.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "tools/model.h"

namespace thimble::tools {

/// `target`: value of --target, or empty; a file names its core only, which has no clock.
[[nodiscard]] Result<std::string> profile_trace(const std::filesystem::path& pte,
                                                const std::string& target, const Model& model,
                                                const Outcome& outcome);

}  // namespace thimble::tools
