#pragma once
// The extended header: how long the flatbuffer is and where the segments start.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::pte {

struct Header {
  bool extended = false;      // without one, the flatbuffer is the whole file
  uint64_t program_size = 0;  // bytes, this header included
  uint64_t segment_base = 0;
  uint64_t segment_size = 0;  // 0 also if the file has the shorter, older header
};

/// Checks the identifier too, and that what the header names lies inside the file.
[[nodiscard]] Result<Header> parse_header(ByteView file, std::string_view label);

}  // namespace thimble::formats::pte
