// SPDX-License-Identifier: Apache-2.0
#pragma once
// Images of the emulated boards. An installation contains all of them. A build tree builds an image
// at its first use.
//
//   file of this code                       folder of the images
//   build/thimble                           build/firmware
//   PREFIX/bin/thimble                      PREFIX/lib/thimble/firmware
//   thimble_ml/libthimble_core.so           thimble_ml/lib/thimble/firmware

#include <filesystem>
#include <string>

#include "base/result.h"

namespace thimble::hostrun {

/// Returns the folder of the images and of the plugins that count instructions; the first row of
/// the table above if none exists.
[[nodiscard]] std::filesystem::path firmware_folder();

/// Returns the path of the QEMU plugin that counts instructions and blocks. Like board_image(), a
/// build tree builds it at its first use.
[[nodiscard]] Result<std::filesystem::path> counting_plugin();

/// Returns the path of the image `name`, "runner-cortex-m55". If it is missing, a build tree builds
/// it with the command in firmware/build_command.txt, which firmware/CMakeLists.txt writes: one
/// argument per line, followed by the name of the CMake target. Only one process builds at a
/// time; a message on stderr announces it. Without that file, or if the build fails, the error
/// gives the solution.
[[nodiscard]] Result<std::filesystem::path> board_image(const std::string& name);

}  // namespace thimble::hostrun
