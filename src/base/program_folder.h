// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder of the file that contains this code.

#include <filesystem>

namespace thimble::base {

/// Returns the folder of the program, or of the shared library that contains this code, such as a
/// Python extension module. Images of boards and helper programs are stored next to it.
[[nodiscard]] std::filesystem::path program_folder();

}  // namespace thimble::base
