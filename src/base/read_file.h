// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading of files that a user names. Only regular files are read: a pipe or a device may never
// reach its end.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::base {

struct InputFile {
  /// Fills `to` with the next bytes of the file.
  [[nodiscard]] Status read(std::span<std::byte> to);

  std::filesystem::path path;
  std::ifstream stream;
  uint64_t size_bytes = 0;
};

/// Returns the error for a file that cannot be read. `error`: an errno, or 0.
[[nodiscard]] Error read_error(const std::filesystem::path& path, int error);

/// Returns true if a file or folder has this path. An error if this cannot be found out.
[[nodiscard]] Result<bool> path_exists(const std::filesystem::path& path);

/// Opens a file. The message of an error begins with the path.
[[nodiscard]] Result<InputFile> open_file(const std::filesystem::path& path);

/// Returns the content of a file.
[[nodiscard]] Result<Bytes> read_file(const std::filesystem::path& path);

/// Returns the content of a file; nothing if it does not exist.
[[nodiscard]] Result<Bytes> read_if_exists(const std::filesystem::path& path);

}  // namespace thimble::base
