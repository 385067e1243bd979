// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arm's Fixed Virtual Platform of the Corstone-300 (FVP). The FVP is a program whose path is an
// option. It runs the same image as QEMU, with its own NPU model instead of our simulator.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hostrun/device.h"

namespace thimble::hostrun {

/// Returns an error if no image exists that the model of a Corstone-300 can run for the target.
[[nodiscard]] Status check_fvp(std::string_view target, const std::optional<FirmwareDevice>& npu);

/// Returns the command line that boots the image. `words` is the command line of the firmware; its
/// host files are in `folder`.
[[nodiscard]] std::vector<std::string> fvp_command(const std::filesystem::path& program,
                                                   const std::filesystem::path& image,
                                                   const std::filesystem::path& folder,
                                                   const std::vector<std::string>& words,
                                                   const std::optional<FirmwareDevice>& npu);

}  // namespace thimble::hostrun
