// SPDX-License-Identifier: Apache-2.0
#pragma once
// The extended header: the size of the flatbuffer and the position of the segments.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::pte {

struct Header {
  bool extended = false;      // false: no extended header; the flatbuffer is the whole file
  uint64_t program_size = 0;  // bytes, including this header
  uint64_t segment_base = 0;
  uint64_t segment_size = 0;  // also 0 if the file has the shorter, older header
};

/// Also checks the identifier, and that the ranges in the header are inside the file.
[[nodiscard]] Result<Header> parse_header(ByteView file, std::string_view label);

}  // namespace thimble::formats::pte
