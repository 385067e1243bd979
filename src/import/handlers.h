// SPDX-License-Identifier: Apache-2.0
#pragma once
// Handlers of aten.def. A handler imports one node. Its errors do not name the node; the caller
// adds it.

#include <string_view>
#include <vector>

#include "import/call.h"

namespace thimble::import_pt2 {

namespace handlers {
// A handler that serves several rows is declared several times.
#define ATEN(target, handler) Status handler(Call& call);
#include "import/aten.def"
#undef ATEN
}  // namespace handlers

using Handler = Status (*)(Call&);
/// Returns null if the target ("aten.conv2d.default") has no row.
[[nodiscard]] Handler find_handler(std::string_view target);

}  // namespace thimble::import_pt2
