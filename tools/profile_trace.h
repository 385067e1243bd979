// SPDX-License-Identifier: Apache-2.0
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

/// `model` was opened for a profile; its times are those of the part of --target.
[[nodiscard]] Result<std::string> profile_trace(const std::filesystem::path& pte,
                                                const Model& model, const Outcome& outcome);

}  // namespace thimble::tools
