#pragma once
// A network with addresses as the bytes of engines/axon/container/layers.h.

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

/// `name` becomes the start of the container's, behind which stands a hash of its content. The
/// bytes are checked as a runtime does; what is refused there is our own fault and said so.
[[nodiscard]] Result<std::vector<std::byte>> write(const Network& network, const std::string& name);

}  // namespace thimble::engine::axon
