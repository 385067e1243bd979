#pragma once
// One handler per family of rows of aten.def: it imports one node. Errors need not name the node.

#include <string_view>
#include <vector>

#include "import/call.h"

namespace thimble::import_pt2 {

namespace handlers {
// A handler may serve several rows: it is declared as often.
#define ATEN(target, handler) Status handler(Call& call);
#include "import/aten.def"
#undef ATEN
}  // namespace handlers

using Handler = Status (*)(Call&);
/// Null if the target ("aten.conv2d.default") has no row.
[[nodiscard]] Handler find_handler(std::string_view target);

}  // namespace thimble::import_pt2
