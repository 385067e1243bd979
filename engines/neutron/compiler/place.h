#pragma once
// place(): assigns addresses in the scratch memory.
//
// Inputs and outputs are planned in the scratch too, so that the arena can contain them there
// (DelegateIo). The bytes of an input are free after its last reader. An elementwise kernel writes
// its result over an operand that dies there.

#include <span>
#include <vector>

#include "engines/neutron/compiler/network.h"
#include "engine/engine.h"

namespace thimble::engine::neutron {

struct Places {
  std::vector<DelegateIo> inputs, outputs;
};

/// The inputs `kept_inputs` must not be overwritten, so they are not planned in the scratch.
[[nodiscard]] Places place(Network* network, std::span<const size_t> kept_inputs = {});

}  // namespace thimble::engine::neutron
