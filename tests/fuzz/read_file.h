// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that fuzz targets read.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

inline Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return copy_of(as_byte_view(text));
}

}  // namespace thimble::fuzz
