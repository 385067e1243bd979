#pragma once
// Combines the user's options with the part's recipe and with defaults, in this order of priority.

#include "driver/compile.h"
#include "target/part.h"

namespace thimble::driver {

/// Sets every optional field that a recipe may contain.
[[nodiscard]] CompileOptions with_recipe(CompileOptions options, const target::Recipe& recipe);

}  // namespace thimble::driver
