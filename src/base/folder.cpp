// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/read_file.h"

namespace thimble::base {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> list_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  const fs::path listed = folder.empty() ? fs::path(".") : folder;
  for (fs::directory_iterator entry(listed, error), end; !error && entry != end;
       entry.increment(error)) {
    paths.push_back(entry->path());
  }
  if (error) return read_error(folder, error.value());
  std::ranges::sort(paths);
  return paths;
}

Status NewFolders::make(const fs::path& folder) {
  if (folder.empty()) return ok();
  std::error_code error;
  std::vector<fs::path> missing;  // the folder first
  for (fs::path each = folder; each.has_relative_path() && !fs::exists(each, error);
       each = each.parent_path()) {
    missing.push_back(each);
  }
  made_.reserve(made_.size() + missing.size());
  // A path that exists is not one of the new folders: it may be a link to a folder that is missing.
  for (auto each = missing.rbegin(); each != missing.rend() && !error; ++each) {
    if (fs::create_directory(*each, error)) made_.push_back(std::move(*each));
  }
  if (!error && !fs::is_directory(folder, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) return bad_input("{}: cannot be made: {}", folder.string(), error.message());
  return ok();
}

void NewFolders::remove_empty() noexcept {
  std::error_code error;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    fs::remove(*folder, error);  // fails if it is not empty
  }
}

}  // namespace thimble::base
