#pragma once
// The AXON NPU that the delegate calls of a `.pte` are for: the integer model behind the runtime's
// delegate, and what is wrong with a file's layer lists, in more words than a status has.

#include <vector>

#include "hostrun/device.h"
#include "thimble_axon.h"

namespace thimble::hostrun {

/// Executes layer lists with the integer model (engines/axon/model). Counts nothing.
[[nodiscard]] thimble_axon axon_model();

/// Layer lists, refused at once if their hash is not their content's; and what silicon alone runs.
[[nodiscard]] std::vector<DeviceKind> axon_devices();

}  // namespace thimble::hostrun
