#pragma once
// What every verb says and writes alike: errors with their exit codes, files that appear whole or
// not at all, progress for people only.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::tools {

using Json = nlohmann::ordered_json;

/// The message to stderr and, with `json`, as {"error"} to stdout. Gives the exit code: 1 for what
/// the target cannot do, 2 for bad input.
int fail(const Error& error, bool json);

void print_json(const Json& object);

/// NaN and infinities have no place in JSON: null.
[[nodiscard]] Json number(double value);

/// Files to be written together. Each goes to a temporary name first; commit() renames them all.
/// Whatever has not been committed is removed.
class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  /// A file that the command reads: writing over it is refused.
  void protect(const std::filesystem::path& input) { inputs_.push_back(input); }
  /// Also refused: devices and pipes, folders, and the same file twice. A link is followed.
  Status add(const std::filesystem::path& path, ByteView bytes);
  Status add(const std::filesystem::path& path, std::string_view text);
  Status commit();
  /// Names of what was added in the folder.
  [[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder) const;

 private:
  struct File {
    std::filesystem::path temporary;
    std::filesystem::path path;
  };
  Status check(const std::filesystem::path& path, const std::string& shown) const;

  std::vector<std::filesystem::path> inputs_;
  std::vector<File> files_;
};

[[nodiscard]] Result<Bytes> read_file(const std::filesystem::path& path);

/// One line that overwrites itself on stderr, if that is a terminal.
class Progress {
 public:
  explicit Progress(std::string_view what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  void show(int64_t done, int64_t all) const;

 private:
  std::string what_;
  bool visible_;
};

/// The file name's last part, in lower case: ".pte".
[[nodiscard]] std::string extension(const std::filesystem::path& path);

}  // namespace thimble::tools
