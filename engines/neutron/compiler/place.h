// SPDX-License-Identifier: Apache-2.0
#pragma once
// place(): merges the buffers of in-place kernels, then assigns addresses in the scratch memory.
//
// Inputs and outputs are planned in the scratch too, so that the arena can contain them there
// (DelegateIo). The bytes of an input are free after its last reader. An elementwise kernel writes
// its result over an operand that dies there.

#include <span>
#include <vector>

#include "engine/engine.h"
#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

struct IoPositions {
  std::vector<DelegateIo> inputs, outputs;
};

/// The inputs `read_only_inputs` must not be overwritten, so they are not planned in the scratch.
[[nodiscard]] IoPositions place(Network* network, std::span<const size_t> read_only_inputs = {});

}  // namespace thimble::engine::neutron
