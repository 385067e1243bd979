// SPDX-License-Identifier: Apache-2.0
#pragma once
// Section attributes of the arrays in the C. Without a linker file, two macros that the application
// may define: one for all constants, one for the arena. With it, one section per array, placed by
// emit/linker_file.h.

#include <string>
#include <string_view>

#include "emit/c/c_program.h"

namespace thimble::emit::c {

/// Macros NAME_WEIGHTS_SECTION and NAME_ARENA_SECTION, and NAME_IN(array) if arrays are placed.
[[nodiscard]] std::string section_macros(const CProgram& program);
/// Section macro that precedes the definition of a constant array.
[[nodiscard]] std::string constant_section(const CProgram& program, std::string_view array);
/// The function that copies constants to the memories from which kernels read them, and its call.
/// Empty if no constant is copied.
[[nodiscard]] std::string load_function(const CProgram& program);
[[nodiscard]] std::string load_call(const CProgram& program);

}  // namespace thimble::emit::c
