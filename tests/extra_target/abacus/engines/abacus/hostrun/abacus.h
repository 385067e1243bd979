// SPDX-License-Identifier: Apache-2.0
#pragma once
// The model of the Abacus as a device of the host, called by the runtime's delegate.

#include <vector>

#include "hostrun/device.h"

namespace thimble::hostrun {

[[nodiscard]] std::vector<DeviceKind> abacus_devices();

}  // namespace thimble::hostrun
