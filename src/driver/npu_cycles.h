// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycles of the NPUs in an emitted program: those that `run --profile` shows for the file
// (hostrun/npu_profile.h), for the systems of the part. The cycles that an engine plans with are
// replaced, because a plan does not know the waits of the final commands.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/part.h"
#include "formats/pte/program.h"
#include "hostrun/npu_profile.h"

namespace thimble::driver {

/// Returns the systems around the NPUs of the part.
[[nodiscard]] std::vector<hostrun::NpuSystem> npu_systems(const engine::Part& part);

/// Returns the NPU of the part that executes what the profile shows; null if it has none.
[[nodiscard]] const engine::PartNpu* npu_of(const engine::Part& part,
                                            const hostrun::NpuProfile& profile);

/// Sets the cycles of the delegates and of their rows. The rows of a delegate add up to its cycles:
/// each has the time since the end of the previous operation. A delegate without a profile, such as
/// the output of a vendor's compiler, keeps the cycles of its engine.
[[nodiscard]] Status estimate_npu_cycles(const formats::pte::Program& program,
                                         std::string_view label, const engine::Part& part,
                                         std::vector<engine::Delegate>* delegates);

}  // namespace thimble::driver
