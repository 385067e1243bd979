// SPDX-License-Identifier: Apache-2.0
#pragma once
// Temporary folders that are removed at the end of a test.

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>

namespace thimble::test {

class Folder {
 public:
  Folder() {
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() / ("thimble-test-" + std::to_string(random()));
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Makes a folder of its own this process's folder for temporary files (TMPDIR) during the
/// object's lifetime. Other processes then neither add to what a test counts nor remove it.
class PrivateTempFolder {
 public:
  PrivateTempFolder() : before_(std::getenv("TMPDIR") == nullptr ? "" : std::getenv("TMPDIR")) {
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  PrivateTempFolder(const PrivateTempFolder&) = delete;
  PrivateTempFolder& operator=(const PrivateTempFolder&) = delete;
  ~PrivateTempFolder() {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
  }
  [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(folder_.path()); }

 private:
  Folder folder_;
  std::string before_;
};

}  // namespace thimble::test
