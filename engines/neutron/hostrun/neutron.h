// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the Neutron delegate calls of a `.pte` with the integer model, which implements the vendor's
// driver interface. Its checks report errors in payloads in more detail than a status code.

#include <vector>

#include "hostrun/device.h"

namespace thimble::hostrun {

/// Delegate of kernel lists, which are rejected if their hash does not match their content, and the
/// delegate of the vendor's microcode, which only the NPU executes.
[[nodiscard]] std::vector<DeviceKind> neutron_devices();

}  // namespace thimble::hostrun
