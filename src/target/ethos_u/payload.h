#pragma once
// Wraps a command stream in a driver payload (npu/ethos_u/isa/driver_payload.h).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "npu/ethos_u/isa/config.h"

namespace thimble::target::ethos_u {

[[nodiscard]] Result<std::vector<std::byte>> payload(const thimble::ethos_u::Config& config,
                                                     const std::vector<uint32_t>& words);

}  // namespace thimble::target::ethos_u
