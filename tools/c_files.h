#pragma once
// `thimble compile --emit c`: the model as C, and what a build system wants beside it.
//
//   plain    NAME.c, NAME.h, NAME.cmake
//   arduino  NAME/: an Arduino library with the sources of its kernels
//   cmsis    NAME/: the files of a CMSIS pack, likewise
//
// and NAME_sections.ld for a part with a choice of memories.

#include <filesystem>
#include <string>

#include "driver/compile.h"
#include "tools/output.h"

namespace thimble::tools {

/// `path` without its extension is where the files go and what the model is called.
Status add_c_files(const driver::Compiled& compiled, const std::filesystem::path& path,
                   const std::string& layout, OutputFiles* files);

}  // namespace thimble::tools
