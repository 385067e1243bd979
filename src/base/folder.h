// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of folders, and new folders that do not remain if they stay empty.

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace thimble::base {

/// Returns the paths of the entries of a folder, sorted. An empty path is the current folder.
[[nodiscard]] Result<std::vector<std::filesystem::path>> list_folder(
    const std::filesystem::path& folder);

/// Folders that a command makes for its files. The destructor removes those that are empty, unless
/// keep() was called.
class NewFolders {
 public:
  NewFolders() = default;
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  ~NewFolders() { remove_empty(); }

  /// Makes a folder and its missing parents. Does nothing for an empty path.
  Status make(const std::filesystem::path& folder);
  void keep() { made_.clear(); }
  /// Allocates no memory.
  void remove_empty() noexcept;

 private:
  std::vector<std::filesystem::path> made_;  // parents first
};

}  // namespace thimble::base
