#pragma once
// Section attributes of the arrays in the C. There is one section, which the application defines,
// or, for a part with several memories, one section per array, placed by emit/linker_file.h.

#include <string>
#include <string_view>

#include "emit/c/layout.h"

namespace thimble::emit::c {

/// Macros NAME_WEIGHTS_SECTION and NAME_ARENA_SECTION, and NAME_IN(array) if arrays are placed.
[[nodiscard]] std::string section_macros(const Layout& layout);
/// Section macro that precedes the definition of a constant array.
[[nodiscard]] std::string constant_section(const Layout& layout, std::string_view array);
/// The function that copies constants to the memories from which kernels read them, and its call.
/// Empty if no constant is copied.
[[nodiscard]] std::string load_function(const Layout& layout);
[[nodiscard]] std::string load_call(const Layout& layout);

}  // namespace thimble::emit::c
