// SPDX-License-Identifier: Apache-2.0
#include "import/handlers.h"

#include <algorithm>
#include <map>

#include "import/import.h"

namespace thimble::import_pt2 {
namespace {

const std::map<std::string_view, Handler>& table() {
  static const std::map<std::string_view, Handler> rows = {
#define ATEN(target, handler) {target, handlers::handler},
#include "import/aten.def"
#undef ATEN
  };
  return rows;
}

}  // namespace

Handler find_handler(std::string_view target) {
  const auto row = table().find(target);
  return row == table().end() ? nullptr : row->second;
}

const std::vector<std::string_view>& supported_targets() {
  static const std::vector<std::string_view> targets = [] {
    std::vector<std::string_view> result;
    for (const auto& [target, handler] : table()) result.push_back(target);
    return result;
  }();
  return targets;
}

}  // namespace thimble::import_pt2
