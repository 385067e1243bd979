// SPDX-License-Identifier: Apache-2.0
#pragma once
// The list of core ATen operators, with what the importer does with each.

#include <string_view>
#include <vector>

namespace thimble::import_pt2 {

enum class CoreSupport { kOperator, kNumber, kExport, kRefused };  // core_aten.def

struct CoreOperator {
  std::string_view target;
  CoreSupport support;
  std::string_view note;
};

/// Returns the rows of core_aten.def.
[[nodiscard]] const std::vector<CoreOperator>& core_operators();

/// Returns why a core operator without handler is refused; empty for other operators.
[[nodiscard]] std::string_view refusal_note(std::string_view target);

}  // namespace thimble::import_pt2
