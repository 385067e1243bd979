#pragma once
// The bytes of a `.pte` as a program. Any bytes may be given: what comes back has passed the
// flatbuffer verifier and `check`, so that no index in it leaves its table.

#include <filesystem>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// `label` is what messages call the bytes, usually the file name:
/// `model.pte: plan forward: values[12].sizes[2]: -3 is negative`.
[[nodiscard]] Result<Program> read(ByteView bytes, std::string_view label);
[[nodiscard]] Result<Program> read_file(const std::filesystem::path& path);

}  // namespace thimble::formats::pte
