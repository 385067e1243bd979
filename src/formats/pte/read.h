// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the bytes of a `.pte` as a program. Accepts any bytes: the returned program has passed the
// flatbuffer verifier and `check`, so every index is inside its table.

#include <filesystem>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// `label` names the bytes in messages, usually the file name:
/// `model.pte: plan forward: values[12].sizes[2]: -3 is negative`.
[[nodiscard]] Result<Program> read(ByteView bytes, std::string_view label);
[[nodiscard]] Result<Program> read_file(const std::filesystem::path& path);

}  // namespace thimble::formats::pte
