// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counter rows in memory that the product provides.

#include "thimble_axon.h"

namespace thimble::runtime::axon {

/// Returns the row of a layer list, allocated if necessary; null if no row is free.
thimble_axon_counter* find_or_add_counter(const thimble_axon& npu, const char* name);

}  // namespace thimble::runtime::axon
