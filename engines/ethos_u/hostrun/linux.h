// SPDX-License-Identifier: Apache-2.0
#pragma once
// An Ethos-U of this machine, for `thimble run --on linux`.

#include <memory>
#include <string>

#include "base/result.h"
#include "hostrun/device.h"

namespace thimble::hostrun {

[[nodiscard]] Result<std::unique_ptr<Device>> open_linux_ethos_u(const std::string& device);

}  // namespace thimble::hostrun
