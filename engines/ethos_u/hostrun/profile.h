// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimated cycles of Ethos-U delegates, from the simulator's timeline
// (engines/ethos_u/sim/timeline.h), and the hazards in their command streams.

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"
#include "hostrun/npu_profile.h"

namespace thimble::hostrun {

/// One per delegate of the first plan; empty if it has none for an Ethos-U. The system around the
/// NPU is that of the NPU's row in `systems`, else what the file says, else the usual one of its
/// generation; the memory mode is what the file says.
[[nodiscard]] Result<std::vector<NpuProfile>> ethos_u_profiles(const formats::pte::Program& program,
                                                               std::string_view label,
                                                               std::span<const NpuSystem> systems);

/// Bad input if two commands of an Ethos-U delegate access the same bytes, one writes, and nothing
/// orders them. A payload that cannot be read as a stream is left to the runtime, which refuses it
/// at load.
[[nodiscard]] Status check_ethos_u_hazards(const formats::pte::Program& program,
                                           std::string_view label);

}  // namespace thimble::hostrun
