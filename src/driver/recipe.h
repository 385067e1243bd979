#pragma once
// What the user asked for, what the part's recipe says where they did not, and the usual where
// neither does.

#include "driver/compile.h"
#include "engine/part.h"

namespace thimble::driver {

/// Every optional field that a recipe knows has a value.
[[nodiscard]] CompileOptions with_recipe(CompileOptions options, const engine::Recipe& recipe);

}  // namespace thimble::driver
