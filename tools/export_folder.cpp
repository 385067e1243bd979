// SPDX-License-Identifier: Apache-2.0
#include "tools/export_folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/lines.h"
#include "base/read_file.h"
#include "base/replace_file.h"
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

bool ExportFolder::resolves_inside(const std::string& path) const {
  std::error_code error;
  const fs::path resolved = fs::canonical(folder_ / path, error);
  if (error) return false;
  return is_inside(resolved.lexically_relative(fs::canonical(folder_, error)));
}

Result<std::string> ExportFolder::digest_of(const std::string& path) const {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(folder_ / path, error);
  if (status.type() == fs::file_type::none) return base::read_error(folder_ / path, error.value());
  if (!fs::is_regular_file(status)) return std::string();
  THIMBLE_TRY(const Bytes bytes, base::read_file(folder_ / path));
  return sha256(bytes);
}

Status ExportFolder::open() {
  const fs::path list = folder_ / kList;
  THIMBLE_TRY(const Bytes bytes, base::read_if_exists(list));
  int number = 0;
  for (const std::string_view line : base::lines_of(as_text(bytes))) {
    ++number;
    const bool has_digest = line.find("  ") == kDigestLetters;
    const std::string path(has_digest ? line.substr(kDigestLetters + 2) : "");
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
  for (const auto& [path, digest] : old_) {
    if (new_.contains(path)) continue;
    THIMBLE_TRY(const std::string found, digest_of(path));
    if (found == digest && resolves_inside(path)) {
      add_unused(path);
    } else if (!found.empty()) {
      // A changed file stays in the list, so that a later export finds it changed again.
      kept_.push_back(path);
      new_[path] = digest;
    }
  }
  THIMBLE_CHECK(files_.add(folder_ / kList, list_text()));
  std::ranges::sort(kept_);
  THIMBLE_CHECK(files_.commit());
  return remove_unused();
}

std::string ExportFolder::list_text() const {
  std::string list;
  for (const auto& [path, digest] : new_) list += fmt::format("{}  {}\n", digest, path);
  return list;
}

void ExportFolder::add_unused(const std::string& path) {
  unused_.push_back({path, folder_ / path});
  for (fs::path folder = fs::path(path).parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    unused_folders_.push_back(folder_ / folder);
  }
}

Status ExportFolder::remove_unused() {
  std::error_code error;
  std::error_code first_error;
  const Unused* first = nullptr;  // that cannot be removed
  for (Unused& file : unused_) {
    if (fs::remove(file.path, error)) ++removed_;
    file.is_removed = !error;
    if (error && first == nullptr) {
      first = &file;
      first_error = error;
    }
  }
  for (const fs::path& folder : unused_folders_) {
    fs::remove(folder, error);  // fails if it is not empty
  }
  if (first == nullptr) return ok();
  // A later export removes the files that are still in the list.
  for (const Unused& file : unused_) {
    if (!file.is_removed) new_[file.listed] = old_[file.listed];
  }
  THIMBLE_CHECK(base::replace_file(folder_ / kList, as_byte_view(list_text())));
  return bad_input("{}: is not part of the export any more and cannot be removed: {}",
                   first->path.string(), first_error.message());
}

}  // namespace thimble::tools
