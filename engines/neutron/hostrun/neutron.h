#pragma once
// The Neutron NPU that the delegate calls of a `.pte` are for: the integer model behind the
// vendor's driver interface, and what is wrong with a file's payloads, in more words than a status
// has.

#include <vector>

#include "hostrun/device.h"

namespace thimble::hostrun {

/// Lists of kernels, refused at once if their hash is not their content's; and the vendor's
/// microcode, which nothing but the NPU executes.
[[nodiscard]] std::vector<DeviceKind> neutron_devices();

}  // namespace thimble::hostrun
