// SPDX-License-Identifier: Apache-2.0
#pragma once
// Output of all verbs: errors with their exit codes, files that are written completely or not at
// all, and progress on a terminal.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/folder.h"
#include "base/progress.h"
#include "base/read_file.h"
#include "base/result.h"

namespace thimble::tools {

using Json = nlohmann::ordered_json;

/// Returns the text with `\xNN` for each control character except line feeds: texts of files must
/// not control the terminal.
[[nodiscard]] std::string printable(const std::string& text);

/// Prints the message to stderr and, with `json`, as {"error"} to stdout. Returns the exit code: 1
/// if the target does not support the model, 2 for bad input.
int fail(const Error& error, bool json);

void print_json(const Json& object);

/// A JSON number; null for NaN and infinities, which JSON does not have.
[[nodiscard]] Json number(double value);

/// Files that are written together. Each is written to a temporary name; commit() renames them all,
/// and restores the old files if one cannot be renamed. The destructor removes temporary files, and
/// folders of make_folder() that are empty.
class OutputFiles {
 public:
  OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  /// Registers a file that the command reads; add() refuses to overwrite it.
  void protect(const std::filesystem::path& input) { inputs_.push_back(input); }
  /// Registers the folder of --save-stages; add() refuses a name in it that a stage can have.
  void protect_stages(const std::filesystem::path& folder) { stages_ = folder; }
  /// Makes a folder and its missing parents. Does nothing for an empty path.
  Status make_folder(const std::filesystem::path& folder) { return folders_.make(folder); }
  /// Writes the bytes to a temporary name. Refuses an input, a device, a pipe, a folder, and the
  /// same file twice. Follows links.
  Status add(const std::filesystem::path& path, ByteView bytes);
  Status add(const std::filesystem::path& path, std::string_view text);
  /// Renames all files.
  Status commit();
  /// Removes the temporary files and empty folders of all objects, for a program that ends without
  /// destructors. Allocates no memory.
  static void remove_temporary_of_all() noexcept;
  struct Added {
    std::filesystem::path path;  // as given
    int64_t bytes = 0;
  };
  /// The added files, in order.
  [[nodiscard]] const std::vector<Added>& added() const { return added_; }
  /// Names of the added files in the folder.
  [[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder) const;

 private:
  struct File {
    std::filesystem::path temporary;
    std::filesystem::path path;
    std::filesystem::path old{};  // second name of the old content; empty: none
    bool existed = false;         // before commit()
  };
  Status check(const std::filesystem::path& path, const std::string& shown) const;
  void remove_temporary() noexcept;

  std::vector<std::filesystem::path> inputs_;
  std::filesystem::path stages_;
  std::vector<File> files_;
  base::NewFolders folders_;
  std::vector<Added> added_;
  OutputFiles* previous_ = nullptr;  // in the list of all objects
  OutputFiles* next_ = nullptr;
};

using base::read_file;

/// One line on stderr that overwrites itself: what, phase, percentage and time left. It appears
/// after a second and is erased at the end; nothing is printed if stderr is not a terminal.
class Progress {
 public:
  /// With `other`, the progress is reported to this function and no line appears.
  explicit Progress(std::string_view what, ProgressFunction other = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  /// Sets the phase; empty: the work has only one. `all` is 0 if the amount of work is not known.
  void show(std::string_view phase, int64_t done, int64_t all);
  /// A function that calls show(). The object must outlive it.
  [[nodiscard]] ProgressFunction function();

 private:
  struct Line;
  std::unique_ptr<Line> line_;  // null: not a terminal
  ProgressFunction other_;
};

/// The file's extension in lower case: ".pte".
[[nodiscard]] std::string extension(const std::filesystem::path& path);

}  // namespace thimble::tools
