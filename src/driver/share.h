#pragma once
// One arena for several compiled models (emit/share.h).

#include <span>
#include <string>

#include "driver/compile.h"

namespace thimble::driver {

/// Writes the files of all models anew, for one arena of which one model has the use at a time; the
/// text says how much memory it is and how to begin. Not exclusive: nothing changes but the sum.
[[nodiscard]] Result<std::string> share_arena(std::span<Compiled> models,
                                              const CompileOptions& options, bool exclusive);

}  // namespace thimble::driver
