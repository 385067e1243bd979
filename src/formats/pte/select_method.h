// SPDX-License-Identifier: Apache-2.0
#pragma once
// One method of a file with several.

#include <string_view>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// Removes the other methods, so that the runtime executes this one. An error lists the methods.
[[nodiscard]] Status select_method(std::string_view method, std::string_view label,
                                   Program* program);

}  // namespace thimble::formats::pte
