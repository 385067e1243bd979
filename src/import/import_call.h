// SPDX-License-Identifier: Apache-2.0
#pragma once
// Imports one call of an ATen operator.

#include <string_view>

#include "import/handlers.h"

namespace thimble::import_pt2 {

/// Imports a node by its handler. Integers that depend on a position, and booleans for which the
/// handler has no operators, become a table.
[[nodiscard]] Status import_call(Call& call, Handler handler, std::string_view target);

}  // namespace thimble::import_pt2
