// SPDX-License-Identifier: Apache-2.0
#include "import/core_aten.h"

#include <algorithm>

namespace thimble::import_pt2 {

const std::vector<CoreOperator>& core_operators() {
  static const std::vector<CoreOperator> rows = {
#define CORE_ATEN(target, support, note) {target, CoreSupport::support, note},
#include "import/core_aten.def"
#undef CORE_ATEN
  };
  return rows;
}

std::string_view refusal_note(std::string_view target) {
  const auto& rows = core_operators();
  const auto row = std::ranges::find(rows, target, &CoreOperator::target);
  return row != rows.end() && row->support == CoreSupport::kRefused ? row->note
                                                                    : std::string_view();
}

}  // namespace thimble::import_pt2
