#pragma once
// NAME_sections.ld: where the linker puts what the compiler has chosen a memory for.

#include <string>

#include "driver/compile.h"
#include "emit/linker_file.h"

namespace thimble::tools {

/// `name`: of the model, as its C has it. There is a placement.
[[nodiscard]] emit::LinkerFile linker_file_of(const driver::Compiled& compiled,
                                              const std::string& name);

[[nodiscard]] std::string linker_file_name(const std::string& name);

}  // namespace thimble::tools
