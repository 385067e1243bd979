// SPDX-License-Identifier: Apache-2.0
#include "engine/settings.h"

#include <algorithm>
#include <vector>

namespace thimble::engine {

double setting(const PartNpu& use, std::span<const Setting> known, std::string_view name) {
  const auto found = use.settings.find(name);
  if (found != use.settings.end()) return found->second;
  return std::ranges::find(known, name, &Setting::name)->default_value;
}

Status check_settings(const PartNpu& use, std::span<const Setting> known) {
  if (!use.memory_mode.empty() || !use.system.empty()) {
    return bad_input("{}: memory_mode and system mean nothing for this engine", use.name);
  }
  for (const auto& [name, value] : use.settings) {
    const auto row = std::ranges::find(known, name, &Setting::name);
    if (row == known.end()) {
      std::vector<std::string_view> names;
      for (const Setting& each : known) names.push_back(each.name);
      return bad_input("{}: setting {} is not known; one of {} was expected", use.name, name,
                       fmt::join(names, ", "));
    }
    if (!(value >= row->min && value <= row->max)) {
      return bad_input("{}: setting {} is {}, expected {} to {}", use.name, name, value, row->min,
                       row->max);
    }
  }
  return ok();
}

}  // namespace thimble::engine
