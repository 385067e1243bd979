// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encodes a command stream in the driver's format (engines/ethos_u/isa/driver_payload.h).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::engine::ethos_u {

[[nodiscard]] Result<std::vector<std::byte>> payload(const thimble::ethos_u::Config& config,
                                                     const std::vector<uint32_t>& words);

}  // namespace thimble::engine::ethos_u
