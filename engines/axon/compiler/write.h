// SPDX-License-Identifier: Apache-2.0
#pragma once
// write(): encodes a network with addresses as a layer list (engines/axon/container/layers.h).

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

/// `name` becomes the start of the container's name; a hash of the content is appended. The result
/// is checked as in the runtime; a failure is reported as an internal error.
[[nodiscard]] Result<std::vector<std::byte>> write(const Network& network, const std::string& name);

}  // namespace thimble::engine::axon
