#pragma once
// A new folder for a program that writes where it stands, gone with everything in it at the end.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::base {

class WorkFolder {
 public:
  /// Among the temporary files, "thimble-NAME-" and random digits.
  static Result<WorkFolder> create(std::string_view name);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  Status write(std::string_view name, ByteView bytes) const;
  /// Nothing if there is no such file; links, folders and devices are none.
  [[nodiscard]] std::optional<std::string> read(std::string_view name) const;

 private:
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// The last words of a program that failed, for a message: a line each, behind "\n  | ",
/// without control characters.
[[nodiscard]] std::string last_lines(std::string_view output);

}  // namespace thimble::base
