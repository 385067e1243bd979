// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/file.h"

#include "abi/limits.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;

// 1 GiB - 1, so that the sum of a file offset and a size fits 32 bits.
constexpr uint32_t kFileBytesMax = 0x3FFFFFFF;

/// Four letters as a little-endian word.
constexpr uint32_t word_of(const char* letters) {
  uint32_t word = 0;
  for (int i = 3; i >= 0; --i) word = word << 8 | static_cast<uint8_t>(letters[i]);
  return word;
}

}  // namespace

Status find_regions(const void* data, size_t size, PteRegions& file) {
  if (data == nullptr) return Status::kBadArgument;
  if (reinterpret_cast<uintptr_t>(data) % abi::kConstantAlignment != 0) return Status::kMisaligned;
  if (size > kFileBytesMax) return Status::kUnsupported;
  const auto* const start = static_cast<Position>(data);
  const auto bytes = static_cast<uint32_t>(size);
  if (bytes < pte::kHeaderOffset) return Status::kTruncated;
  if (read<uint32_t>(start + pte::kIdentifierOffset) != word_of(pte::kIdentifier)) {
    return Status::kNotAProgram;
  }
  file = {{start, bytes}, {}};
  if (bytes < pte::kHeaderOffset + pte::kHeaderLength) return Status::kTruncated;
  if (read<uint32_t>(start + pte::kHeaderOffset) != word_of(pte::kHeaderMagic)) return Status::kOk;

  const uint32_t length = read<uint32_t>(start + pte::kHeaderLengthOffset);
  if (length < pte::kHeaderLengthMin) return Status::kCorrupt;
  const uint64_t program_bytes = read<uint64_t>(start + pte::kProgramSizeOffset);
  const uint64_t base = read<uint64_t>(start + pte::kSegmentBaseOffset);
  if (program_bytes > bytes || base > bytes) return Status::kTruncated;
  uint64_t data_bytes = bytes - base;
  if (length >= pte::kHeaderLength) {
    data_bytes = read<uint64_t>(start + pte::kSegmentDataSizeOffset);
    if (data_bytes > bytes - base) return Status::kTruncated;
  }
  if (program_bytes < pte::kHeaderOffset + pte::kHeaderLengthMin) return Status::kCorrupt;
  file.program.bytes = static_cast<uint32_t>(program_bytes);
  file.segments = {start + base, static_cast<uint32_t>(data_bytes)};
  return Status::kOk;
}

}  // namespace thimble::runtime
