// SPDX-License-Identifier: Apache-2.0
#pragma once
// NAME_sections.ld: places the objects for which the compiler has chosen a memory.

#include <string>

#include "driver/compile.h"
#include "emit/linker_file.h"

namespace thimble::tools {

/// `name` is the model's name in its C. The report must have a placement.
[[nodiscard]] emit::LinkerFile linker_file_of(const driver::Compiled& compiled,
                                              const std::string& name);

[[nodiscard]] std::string linker_file_name(const std::string& name);

}  // namespace thimble::tools
