// SPDX-License-Identifier: Apache-2.0
#pragma once
// Statuses of the runtime as errors of the program, equal for the host and for boards.

#include <string_view>

#include "base/result.h"
#include "hostrun/interface.h"
#include "thimble.h"

namespace thimble::hostrun {

/// Returns the error for a status that is not 0. It is a not-supported error if the runtime lacks
/// something that the file needs: a kernel, a delegate, or the file's kernel layout. The message
/// names the operators for which this program has no kernel.
[[nodiscard]] Error status_error(thimble_status status, std::string_view label,
                                 const Interface& interface);

}  // namespace thimble::hostrun
