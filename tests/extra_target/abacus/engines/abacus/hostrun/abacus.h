#pragma once
// The model of the Abacus behind the runtime's delegate on this machine.

#include <vector>

#include "hostrun/device.h"

namespace thimble::hostrun {

[[nodiscard]] std::vector<DeviceKind> abacus_devices();

}  // namespace thimble::hostrun
