// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unique names of the values of a graph.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace thimble {

/// The names that are in use.
class UniqueNames {
 public:
  [[nodiscard]] bool empty() const { return next_suffix_.empty(); }
  [[nodiscard]] bool contains(const std::string& name) const { return next_suffix_.contains(name); }
  /// Adds a name. Returns false if it is in use.
  bool insert(const std::string& name) { return next_suffix_.try_emplace(name, 1).second; }

  /// Adds and returns `name` or, if it is in use, `name`, `separator` and the first free number.
  /// The search continues after the last number of `name`: iterations of a loop, which add one name
  /// often, take linear time.
  [[nodiscard]] std::string add(const std::string& name, std::string_view separator = "_") {
    const auto [entry, fresh] = next_suffix_.try_emplace(name, 1);
    if (fresh) return name;
    int& suffix = entry->second;  // insertions do not move it
    while (true) {
      std::string candidate = fmt::format("{}{}{}", name, separator, suffix++);
      if (insert(candidate)) return candidate;
    }
  }

 private:
  std::unordered_map<std::string, int> next_suffix_;  // key: name in use; value: next suffix to try
};

}  // namespace thimble
