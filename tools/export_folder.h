// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder of `export-sources`. thimble_files.txt in it lists the files that the command wrote,
// with their digests, in the form of sha256sum. The next export into the folder removes those that
// it does not write again. A file that the user changed or added is never overwritten or removed.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/output.h"

namespace thimble::tools {

class ExportFolder {
 public:
  explicit ExportFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Registers a file that the command reads.
  void protect(const std::filesystem::path& input) { files_.protect(input); }
  /// Reads the list of an earlier export, if there is one.
  Status open();
  /// Adds a file, whose path is relative to the folder. Keeps a listed file that the user changed;
  /// a file that is not listed and has other contents is bad input.
  Status add(const std::string& path, std::string_view text);
  /// Writes the files and the list, and removes the files of the earlier export that remain. If one
  /// cannot be removed, it stays in the list, and this is an error.
  Status commit();

  /// Number of files of the earlier export that commit() removed.
  [[nodiscard]] int removed() const { return removed_; }
  /// Paths of files that the user changed after the earlier export.
  [[nodiscard]] const std::vector<std::string>& kept() const { return kept_; }

 private:
  /// The digest of a file; empty if it is no regular file.
  [[nodiscard]] Result<std::string> digest_of(const std::string& path) const;
  /// Returns false for a file that a link of a folder moves out of the folder.
  [[nodiscard]] bool resolves_inside(const std::string& path) const;
  /// The content of thimble_files.txt.
  [[nodiscard]] std::string list_text() const;
  /// Remembers a listed file that remove_unused() removes, and its folders.
  void add_unused(const std::string& path);
  /// Removes the files of add_unused(), and their folders if these are empty. Allocates memory only
  /// if a file cannot be removed: the files have their new names already.
  Status remove_unused();

  struct Unused {
    std::string listed;  // the path in the list
    std::filesystem::path path;
    bool is_removed = false;
  };
  std::filesystem::path folder_;
  OutputFiles files_;
  std::map<std::string, std::string> old_;  // path, digest
  std::map<std::string, std::string> new_;
  std::vector<std::string> kept_;
  std::vector<Unused> unused_;                         // listed files that are not written again
  std::vector<std::filesystem::path> unused_folders_;  // of each file its folder, then the parents
  int removed_ = 0;
};

}  // namespace thimble::tools
