// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the AXON delegate calls of a `.pte` with the integer model, through the runtime's delegate.
// Its checks report errors in layer lists in more detail than a status code.

#include <vector>

#include "hostrun/device.h"
#include "thimble_axon.h"

namespace thimble::hostrun {

/// Executes layer lists with the integer model (engines/axon/model). Counts nothing.
[[nodiscard]] thimble_axon axon_model();

/// Delegate of layer lists, which are rejected if their hash does not match their content, and the
/// two vendor delegates, which only silicon executes.
[[nodiscard]] std::vector<DeviceKind> axon_devices();

}  // namespace thimble::hostrun
