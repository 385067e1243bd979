// SPDX-License-Identifier: Apache-2.0
#pragma once
// The payload format of ExecuTorch's delegate "EthosUBackend": a sequence of blocks. Each block is
// a header of 32 bytes and its content, padded with zeros to a multiple of 16.
// docs/formats/ethos-u-payload.md has a dump.
//
//   header   0 name, 16 characters, zero-padded   16 u32 bytes of the content, without padding
//           20 u8: 0 the content follows, 1 the content is the 64-character key of named data
//           21 eleven zeros
//   order    vela_bin_stream (empty), then in any order cmd_data, weight_data, scratch_size (u32),
//            inputs, outputs (tables), then vela_end_stream (empty), the last 32 bytes
//   table    i32 count, then entries of 36 bytes: IoEntry
//
// `read_payload` verifies that everything in its result is inside the given bytes.

#include <string.h>
#include <cstddef>
#include <cstdint>

#include "abi/status.h"

namespace thimble::abi::ethos_u {

inline constexpr char kDelegateId[] = "EthosUBackend";

inline constexpr uint32_t kPayloadAlignment = 16;
inline constexpr uint32_t kHeaderBytes = 32;
inline constexpr uint32_t kNameBytes = 16;
inline constexpr uint32_t kSizeOffset = 16;
inline constexpr uint32_t kExternalOffset = 20;
inline constexpr uint32_t kKeyBytes = 64;
/// Maximum number of entries in a table, far above the needs of any network. A table describes the
/// interface of one subgraph.
inline constexpr uint32_t kIoMax = 4096;

/// Names of the blocks, in the order in which they are written.
enum class Block : uint8_t { kBegin, kCommands, kWeights, kScratch, kInputs, kOutputs, kEnd };
inline constexpr char kBlockNames[7][kNameBytes] = {"vela_bin_stream", "cmd_data", "weight_data",
                                                    "scratch_size",    "inputs",   "outputs",
                                                    "vela_end_stream"};
inline constexpr uint32_t kBlocks = 7;

/// Input or output tensor of the delegate. Shapes of fewer than six dimensions are padded with
/// leading ones.
struct IoEntry {
  int32_t shape[6];
  int32_t element_bytes;
  int32_t offset;  // of the first byte, relative to the start of scratch
  int32_t region;
};
static_assert(sizeof(IoEntry) == 36);

struct BlockContent {
  const uint8_t* data = nullptr;
  uint32_t bytes = 0;
  bool external = false;  // `data` is the key of named data
};

struct IoTable {
  const uint8_t* entries = nullptr;  // 4-byte aligned
  uint32_t count = 0;
  [[nodiscard]] IoEntry entry(uint32_t index) const {
    IoEntry entry;
    memcpy(&entry, entries + index * sizeof(IoEntry), sizeof entry);
    return entry;
  }
};

struct PayloadView {
  BlockContent commands, weights;
  uint32_t scratch_bytes = 0;
  IoTable inputs, outputs;
};

constexpr uint32_t padded(uint32_t bytes) {
  return (bytes + kPayloadAlignment - 1) & ~(kPayloadAlignment - 1);
}

namespace payload_detail {

inline uint32_t word_at(const uint8_t* at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/// Returns the index of the block that the header names; kBlocks if the name is unknown.
inline uint32_t block_at(const uint8_t* header) {
  uint32_t block = 0;
  while (block != kBlocks && memcmp(header, kBlockNames[block], kNameBytes) != 0) ++block;
  return block;
}

inline bool read_table(const BlockContent& piece, IoTable& table) {
  if (piece.external || piece.bytes < 4) return false;
  table.count = word_at(piece.data);
  table.entries = piece.data + 4;
  return table.count <= kIoMax && piece.bytes == 4 + table.count * sizeof(IoEntry);
}

inline bool take(Block block, const BlockContent& piece, PayloadView& view) {
  if (piece.external && piece.bytes != kKeyBytes) return false;
  switch (block) {
    case Block::kCommands:
      view.commands = piece;
      return true;
    case Block::kWeights:
      view.weights = piece;
      return true;
    case Block::kScratch:
      if (piece.external || piece.bytes != 4) return false;
      view.scratch_bytes = word_at(piece.data);
      return true;
    case Block::kInputs:
      return read_table(piece, view.inputs);
    case Block::kOutputs:
      return read_table(piece, view.outputs);
    default:
      return piece.bytes == 0 && !piece.external;
  }
}

}  // namespace payload_detail

/// Returns kMisaligned if the address `data` is not a multiple of 16, and kBadPayload if the bytes
/// violate a rule above.
[[nodiscard]] inline Status read_payload(const uint8_t* data, uint32_t bytes, PayloadView& view) {
  if (reinterpret_cast<uintptr_t>(data) % kPayloadAlignment != 0) return Status::kMisaligned;
  view = {};
  uint32_t seen = 0;
  uint32_t at = 0;
  for (bool first = true; bytes - at >= kHeaderBytes; first = false) {
    const uint8_t* const header = data + at;
    const uint32_t block = payload_detail::block_at(header);
    const bool in_place = (block == static_cast<uint32_t>(Block::kBegin)) == first;
    if (block == kBlocks || (seen >> block & 1U) != 0 || !in_place) return Status::kBadPayload;
    seen |= 1U << block;
    at += kHeaderBytes;
    const BlockContent piece = {data + at, payload_detail::word_at(header + kSizeOffset),
                                header[kExternalOffset] != 0};
    const uint32_t rest = bytes - at;
    if (header[kExternalOffset] > 1 || piece.bytes > rest || padded(piece.bytes) > rest ||
        padded(piece.bytes) < piece.bytes ||
        !payload_detail::take(static_cast<Block>(block), piece, view)) {
      return Status::kBadPayload;
    }
    at += padded(piece.bytes);
    if (block == static_cast<uint32_t>(Block::kEnd)) break;
  }
  const bool all = seen == (1U << kBlocks) - 1;
  return all && at == bytes ? Status::kOk : Status::kBadPayload;
}

}  // namespace thimble::abi::ethos_u
