// SPDX-License-Identifier: Apache-2.0
#include "tools/export_folder.h"

#include <algorithm>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/sha256.h"

namespace thimble::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kList = "thimble_files.txt";
constexpr size_t kDigestLetters = 64;

/// Returns true if the path is inside of the folder.
bool is_inside(const fs::path& path) {
  return !path.empty() && path.is_relative() && path == path.lexically_normal() &&
         *path.begin() != "..";
}

}  // namespace

Result<std::string> ExportFolder::digest_of(const std::string& path) const {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(folder_ / path, error))) return std::string();
  THIMBLE_TRY(const Bytes bytes, read_file(folder_ / path));
  return sha256(bytes);
}

Status ExportFolder::open() {
  const fs::path list = folder_ / kList;
  std::error_code error;
  if (!fs::exists(list, error)) return ok();
  THIMBLE_TRY(const Bytes bytes, read_file(list));
  std::istringstream lines{std::string(as_text(bytes))};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const bool has_digest = line.find("  ") == kDigestLetters;
    const std::string path = has_digest ? line.substr(kDigestLetters + 2) : "";
    if (!is_inside(path)) {
      return bad_input("{}:{}: expected a digest and the path of a file in this folder, found '{}'",
                       list.string(), number, line);
    }
    old_[path] = line.substr(0, kDigestLetters);
  }
  return ok();
}

Status ExportFolder::add(const std::string& path, std::string_view text) {
  const std::string digest = sha256(as_byte_view(text));
  const auto listed = old_.find(path);
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder_ / path, error))) {
    THIMBLE_TRY(const std::string found, digest_of(path));
    if (listed == old_.end() && found != digest) {
      return bad_input(
          "{}: was not written by export-sources: move it, or export into another "
          "folder",
          (folder_ / path).string());
    }
    if (listed != old_.end() && found != listed->second && found != digest) {
      kept_.push_back(path);
      new_[path] = listed->second;
      return ok();
    }
  }
  new_[path] = digest;
  THIMBLE_CHECK(files_.make_folder((folder_ / path).parent_path()));
  return files_.add(folder_ / path, text);
}

Status ExportFolder::commit() {
  // A changed file stays in the list, so that a later export finds it changed again.
  for (const auto& [path, digest] : old_) {
    if (new_.contains(path)) continue;
    THIMBLE_TRY(const std::string found, digest_of(path));
    if (found == digest) add_unused(path);
    if (found.empty() || found == digest) continue;
    kept_.push_back(path);
    new_[path] = digest;
  }
  std::string list;
  for (const auto& [path, digest] : new_) list += fmt::format("{}  {}\n", digest, path);
  THIMBLE_CHECK(files_.add(folder_ / kList, list));
  THIMBLE_CHECK(files_.commit());
  remove_unused();
  std::ranges::sort(kept_);
  return ok();
}

void ExportFolder::add_unused(const fs::path& path) {
  unused_.push_back(folder_ / path);
  for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    unused_folders_.push_back(folder_ / folder);
  }
}

void ExportFolder::remove_unused() {
  std::error_code error;
  for (const fs::path& path : unused_) {
    if (fs::remove(path, error)) ++removed_;
  }
  for (const fs::path& folder : unused_folders_) {
    fs::remove(folder, error);  // fails if it is not empty
  }
}

}  // namespace thimble::tools
