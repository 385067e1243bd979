#pragma once
// Serializes a network with addresses in the format of npu/axon/layers.h.

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/axon/network.h"

namespace thimble::target::axon {

/// `name` becomes the start of the container's name; a hash of the content is appended. The result
/// is checked as in the runtime; a failure is reported as an internal error.
[[nodiscard]] Result<std::vector<std::byte>> write(const Network& network, const std::string& name);

}  // namespace thimble::target::axon
