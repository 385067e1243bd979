#pragma once
// Images of the emulated boards: files of firmware/ in the folder of the program. An installed
// program brings all of them. A build tree builds an image when it is needed for the first time.

#include <filesystem>
#include <string>

#include "base/result.h"

namespace thimble::hostrun {

/// The folder of the images and of the plugins that count instructions.
[[nodiscard]] std::filesystem::path firmware_folder();

/// Path of the image `name`, "runner-cortex-m55". If it is missing, a build tree builds it with the
/// command in firmware/build_command.txt (written by firmware/CMakeLists.txt: one argument per
/// line, the image's name is appended to the last one), one process at a time, and says so on
/// stderr. Without that file, or if the build fails, the error says what to do.
[[nodiscard]] Result<std::filesystem::path> board_image(const std::string& name);

}  // namespace thimble::hostrun
