// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <tuple>

namespace thimble {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known,
                                 size_t most) {
  const size_t close = std::max<size_t>(2, name.size() / 3);
  // At the same distance, a name that contains the other one is nearer: m55 for m5, not m3.
  std::vector<std::tuple<size_t, bool, std::string>> ranked;
  for (const std::string& each : known) {
    const bool inside = name.size() > 1 && each.size() > 1 &&
                        (each.find(name) != std::string::npos || name.find(each) != name.npos);
    const size_t away = edit_distance(name, each);
    if (inside || away <= close) ranked.emplace_back(away, !inside, each);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> names;
  for (const auto& [away, outside, each] : ranked) {
    const bool said = std::ranges::find(names, each) != names.end();
    if (!said && names.size() < most) names.push_back(each);
  }
  return names;
}

std::string suggestions(std::string_view name, std::span<const std::string> known) {
  constexpr size_t kShown = 3;
  std::string text;
  for (const std::string& each : nearest(name, known, kShown)) {
    text += (text.empty() ? "; similar names: " : ", ") + each;
  }
  return text;
}

}  // namespace thimble
