#pragma once
// place(): addresses of the scratch memory.
//
// Inputs and outputs are planned in the scratch too, where the arena may have them (DelegateIo): an
// input's bytes are free behind its last reader. An elementwise kernel whose operand dies there
// writes over it.

#include <span>
#include <vector>

#include "engines/neutron/compiler/network.h"
#include "engine/engine.h"

namespace thimble::engine::neutron {

struct Places {
  std::vector<DelegateIo> inputs, outputs;
};

/// `kept_inputs` stay where the caller has them.
[[nodiscard]] Places place(Network* network, std::span<const size_t> kept_inputs = {});

}  // namespace thimble::engine::neutron
