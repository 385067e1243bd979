// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of loaded networks in memory that the product provides. networks.cpp also implements the
// copy functions of thimble_neutron.h.

#include "thimble_neutron.h"

namespace thimble::runtime::neutron {

/// Returns the row of a network, allocated if necessary; null if no row is free.
thimble_neutron_network* find_or_add_network(const thimble_neutron& npu, const void* program,
                                             void* handle);

void count_call(thimble_neutron_network& network);

}  // namespace thimble::runtime::neutron
