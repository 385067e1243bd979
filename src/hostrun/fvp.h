#pragma once
// Arm's model of a Corstone-300 (an FVP), a program that the user has and names. It runs the very
// image that QEMU runs, with the model's NPU in the place of our simulator.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hostrun/device.h"

namespace thimble::hostrun {

/// A reason if there is no image that the model of a Corstone-300 can run for the target.
[[nodiscard]] Status check_fvp(std::string_view target, const std::optional<FirmwareDevice>& npu);

/// Command line that boots the image with these words as its own command line; its host files are
/// those of `folder`.
[[nodiscard]] std::vector<std::string> fvp_command(const std::filesystem::path& program,
                                                   const std::filesystem::path& image,
                                                   const std::filesystem::path& folder,
                                                   const std::vector<std::string>& words,
                                                   const std::optional<FirmwareDevice>& npu);

}  // namespace thimble::hostrun
