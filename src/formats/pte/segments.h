// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layout of the bulk data after the flatbuffer. All offsets are relative to the segment base, which
// is a multiple of `alignment` from the start of the file.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

struct Piece {
  uint64_t offset = 0;  // from the start of the segment
  ByteView bytes;       // view into the Program
};

struct Segment {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t alignment = 1;
  std::vector<Piece> pieces;
};

/// A list of buffers in one segment; offsets[0] is reserved and 0.
struct SubsegmentOffsets {
  uint32_t segment = 0;
  std::vector<uint64_t> offsets;
};

struct Segments {
  std::vector<Segment> all;  // in ascending order of offset
  uint32_t alignment = 16;
  uint64_t size = 0;
  SubsegmentOffsets constants;
  std::vector<SubsegmentOffsets> mutable_segments;
  std::vector<ByteView> inline_blobs;
  std::vector<uint32_t> blob_index;        // per Program::delegate_blobs: index in all/inline_blobs
  std::vector<uint32_t> named_data_index;  // per Program::named_data: index in `all`
};

/// The views in the result are valid during the lifetime of `program`.
[[nodiscard]] Segments lay_out(const Program& program);

[[nodiscard]] constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace thimble::formats::pte
