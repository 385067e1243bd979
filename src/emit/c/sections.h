#pragma once
// Where the C says that its arrays lie: in one section as the user defines it, or, for a part with
// several memories, each in a section of its own that the linker file (emit/linker_file.h) places.

#include <string>
#include <string_view>

#include "emit/c/layout.h"

namespace thimble::emit::c {

/// Macros NAME_WEIGHTS_SECTION, NAME_ARENA_SECTION and, where arrays are placed, NAME_IN(array).
[[nodiscard]] std::string section_macros(const Layout& layout);
/// What stands before the array of a constant.
[[nodiscard]] std::string constant_section(const Layout& layout, std::string_view array);
/// The function that copies constants to the memories in which they are read, and its call; empty
/// if none are.
[[nodiscard]] std::string load_function(const Layout& layout);
[[nodiscard]] std::string load_call(const Layout& layout);

}  // namespace thimble::emit::c
