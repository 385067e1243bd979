// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of the tensors of a graph into which subgraphs are inlined.

#include <fmt/format.h>

#include <string>
#include <unordered_map>

namespace thimble::formats::pt2 {

/// The names that are in use.
class UniqueNames {
 public:
  [[nodiscard]] bool empty() const { return next_suffix_.empty(); }
  [[nodiscard]] bool contains(const std::string& name) const { return next_suffix_.contains(name); }
  /// Adds a name. Returns false if it is in use.
  bool insert(const std::string& name) { return next_suffix_.try_emplace(name, 1).second; }

  /// Adds and returns `name`, or a name that begins with it if it is in use. A name that is wanted
  /// often, as in the iterations of a loop, takes no longer each time.
  [[nodiscard]] std::string add(const std::string& name) {
    const auto [entry, fresh] = next_suffix_.try_emplace(name, 1);
    if (fresh) return name;
    int& suffix = entry->second;  // stays valid when other names are added
    while (true) {
      std::string candidate = fmt::format("{}_region{}", name, suffix++);
      if (insert(candidate)) return candidate;
    }
  }

 private:
  std::unordered_map<std::string, int> next_suffix_;  // the number of the next attempt
};

}  // namespace thimble::formats::pt2
