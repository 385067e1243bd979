// SPDX-License-Identifier: Apache-2.0
#include "base/work_folder.h"

#include <algorithm>
#include <new>
#include <random>

#include "base/control_characters.h"
#include "base/read_file.h"
#include "base/replace_file.h"

namespace thimble::base {

namespace fs = std::filesystem;

Result<WorkFolder> WorkFolder::create(std::string_view name) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return bad_input("cannot find the folder for temporary files: {}", error.message());
  std::random_device random;
  for (int attempt = 0; attempt < 8; ++attempt) {
    WorkFolder folder(base / fmt::format("thimble-{}-{:08x}{:08x}", name, random(), random()));
    if (fs::create_directory(folder.path_, error)) return folder;
    folder.path_.clear();
  }
  return bad_input("{}: cannot create a folder in it: {}", base.string(), error.message());
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

WorkFolder::~WorkFolder() {
  if (path_.empty()) return;
  // Memory is needed to list the folder. An attempt that finds none is repeated once.
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      std::error_code error;
      fs::remove_all(path_, error);
      if (!error) return;
    } catch (const std::bad_alloc&) {
    }
  }
}

Status WorkFolder::write(std::string_view name, ByteView bytes) const {
  return replace_file(file(name), bytes);
}

std::optional<std::string> WorkFolder::read(std::string_view name) const {
  // Only regular files are read: a pipe or a link to a device may never reach its end.
  std::error_code error;
  if (fs::symlink_status(file(name), error).type() != fs::file_type::regular) return std::nullopt;
  const Result<Bytes> bytes = read_file(file(name));
  if (!bytes.ok()) return std::nullopt;
  return std::string(as_text(*bytes));
}

std::string last_lines(std::string_view output) {
  constexpr size_t kCharactersMax = 400;
  while (!output.empty() && (output.back() == '\n' || output.back() == ' ')) {
    output.remove_suffix(1);
  }
  if (output.size() > kCharactersMax) {
    output.remove_prefix(output.size() - kCharactersMax);
    output.remove_prefix(std::min(output.find('\n') + 1, output.size()));
  }
  std::string lines;
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    if (end > at) {
      lines += "\n  | " + without_control_characters(output.substr(at, end - at), '?');
    }
    at = end + 1;
  }
  return lines;
}

}  // namespace thimble::base
