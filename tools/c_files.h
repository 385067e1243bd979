// SPDX-License-Identifier: Apache-2.0
#pragma once
// `thimble compile --emit c`: writes the model as C, and the files that a build system needs.
//
//   plain    NAME.c, NAME.h, NAME.cmake
//   arduino  NAME/: an Arduino library with the sources of its kernels
//   cmsis    NAME/: the files of a CMSIS pack with the sources of its kernels
//
// For a part with several memories also NAME_sections.ld.

#include <filesystem>
#include <string>

#include "driver/compile.h"
#include "tools/output.h"

namespace thimble::tools {

/// The folder of `path` receives the files; its stem is the model's name.
Status add_c_files(const driver::Compiled& compiled, const std::filesystem::path& path,
                   const std::string& layout, OutputFiles* files);

}  // namespace thimble::tools
