// SPDX-License-Identifier: Apache-2.0
#pragma once
// Test data files of the source tree.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <vector>

#include "base/bytes.h"

namespace thimble::test {

inline Bytes read_bytes(const std::filesystem::path& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  Bytes bytes(std::filesystem::file_size(path));
  EXPECT_EQ(std::fread(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  return bytes;
}

/// Returns the .pte files of a folder, sorted by name.
inline std::vector<std::filesystem::path> pte_files_in(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".pte") paths.insert(entry.path());
  }
  return {paths.begin(), paths.end()};
}

}  // namespace thimble::test
