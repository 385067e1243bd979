// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes files so that each is the old one or complete, also if the process is killed: the bytes
// are written to a temporary name in the same folder, which is then renamed. A loss of power of the
// machine is not covered.

#include <filesystem>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::base {

/// Returns a temporary name for a file: PATH, a random number of 8 digits, and `.tmp`.
[[nodiscard]] std::filesystem::path temporary_path(const std::filesystem::path& path);

/// Writes the bytes to a new file, `temporary`. The message of an error names `path`.
[[nodiscard]] Status write_temporary(const std::filesystem::path& path,
                                     const std::filesystem::path& temporary, ByteView bytes);

/// Creates or replaces one file. After an error the old file is unchanged.
[[nodiscard]] Status replace_file(const std::filesystem::path& path, ByteView bytes);

}  // namespace thimble::base
