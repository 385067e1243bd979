#pragma once
// Rows of loaded networks, as the product gave them, and the copy functions that need no DMA.

#include "thimble_neutron.h"

namespace thimble::runtime::neutron {

/// The row of a network, taken now if it has none yet; null if none is left.
thimble_neutron_network* take_network(const thimble_neutron& npu, const void* program,
                                      void* handle);

void count_call(thimble_neutron_network& network);

}  // namespace thimble::runtime::neutron
