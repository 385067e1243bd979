// SPDX-License-Identifier: Apache-2.0
#pragma once
// Combines the user's options with the part's recipe and with defaults, in this order of priority.

#include "driver/compile.h"
#include "engine/part.h"

namespace thimble::driver {

/// In the result, every optional field that Recipe also has is set.
[[nodiscard]] CompileOptions with_recipe(CompileOptions options, const engine::Recipe& recipe);

}  // namespace thimble::driver
