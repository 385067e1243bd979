// SPDX-License-Identifier: Apache-2.0
#pragma once
// A temporary working folder for a program. The destructor deletes it with its content.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::base {

class WorkFolder {
 public:
  /// Creates the folder "thimble-NAME-" plus random digits in the system's temporary folder.
  static Result<WorkFolder> create(std::string_view name);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  Status write(std::string_view name, ByteView bytes) const;
  /// Returns the content of a regular file. Returns nullopt for a missing file, a link, a folder or
  /// a device.
  [[nodiscard]] std::optional<std::string> read(std::string_view name) const;

 private:
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Returns the last lines of a failed program's output for an error message. Each line is preceded
/// by "\n  | "; control characters are replaced.
[[nodiscard]] std::string last_lines(std::string_view output);

}  // namespace thimble::base
