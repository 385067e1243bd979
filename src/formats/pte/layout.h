// SPDX-License-Identifier: Apache-2.0
#pragma once
// The byte ranges of a `.pte`, which `inspect` shows in addition to the program.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::pte {

struct SegmentRange {
  uint64_t offset = 0;  // from the start of the file
  uint64_t size = 0;
  std::string role;  // "constants", "mutable 0", "delegate ID", "named thimble"
};

struct FileLayout {
  uint64_t file_bytes = 0;
  uint64_t program_bytes = 0;  // size of the flatbuffer, including the extended header
  bool has_header = false;
  uint64_t segment_base = 0;
  uint64_t segment_bytes = 0;  // from the header; 0 if the file has the older, shorter header
  std::vector<SegmentRange> segments;
};

[[nodiscard]] Result<FileLayout> read_layout(ByteView file, std::string_view label);

/// Returns comment lines of the text form.
[[nodiscard]] std::string print(const FileLayout& layout);
[[nodiscard]] std::string print_json(const FileLayout& layout);

}  // namespace thimble::formats::pte
