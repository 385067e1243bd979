// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shares one arena among several compiled models (memory/shared_arena.h).

#include <span>
#include <string>

#include "driver/compile.h"

namespace thimble::driver {

/// `exclusive`: writes the files of all models again for one arena that only one model uses at a
/// time. Otherwise only sums the arenas. Returns a text with the number of bytes and the order of
/// initialization.
[[nodiscard]] Result<std::string> share_arena(std::span<Compiled> models,
                                              const CompileOptions& options, bool exclusive);

}  // namespace thimble::driver
