// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system around an Ethos-U as a part's file describes it: a row of the table of systems, and
// settings that override its figures. The compiler schedules for it; a profile of the compiled
// command stream is an estimate for it.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/isa/system.h"

namespace thimble::formats::ethos_u {

struct PartSystem {
  thimble::ethos_u::System system{};
  double cache_bytes = 0;        // Dedicated_Sram: size of the fast scratch; 0 = no limit
  bool in_feature_maps = false;  // default schedules: in the SRAM that whole feature maps need
  uint16_t id = 0;               // abi::DelegateRecord::system
};

/// `name` is that of a row, or empty for the default of the NPU's generation.
[[nodiscard]] Result<PartSystem> part_system(
    const thimble::ethos_u::Config& config, std::string_view name,
    const std::map<std::string, double, std::less<>>& settings);

}  // namespace thimble::formats::ethos_u
