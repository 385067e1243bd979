// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/segments.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "abi/limits.h"
#include "abi/named_data.h"
#include "formats/pte/parts.h"
#include "formats/pte/records.h"

namespace thimble::formats::pte {
namespace {

constexpr uint64_t kAtEnd = UINT64_MAX;

/// Stores all buffers in one segment and returns the offset of each. Equal ones are stored once,
/// and one of `parts` inside the buffer that contains it. An empty buffer has the offset of the end
/// of the segment, so that it shares its start with no buffer; the reserved one has 0.
std::vector<uint64_t> pack(const std::vector<Bytes>& buffers, const std::map<size_t, PartOf>& parts,
                           uint32_t alignment, Segment& segment) {
  segment.alignment = alignment;
  std::vector<uint64_t> offsets;
  std::unordered_map<std::string_view, uint64_t> offset_of;
  for (const Bytes& buffer : buffers) {
    if (buffer.empty() || parts.contains(offsets.size())) {
      offsets.push_back(kAtEnd);
      continue;
    }
    const uint64_t next = align_up(segment.size, alignment);
    const auto [known, is_new] = offset_of.emplace(as_text(buffer), next);
    offsets.push_back(known->second);
    if (!is_new) continue;
    segment.pieces.push_back({next, buffer});
    segment.size = next + buffer.size();
  }
  for (const auto& [i, part] : parts) offsets[i] = offsets[part.whole] + part.offset;
  std::replace(offsets.begin(), offsets.end(), kAtEnd, segment.size);
  offsets[0] = 0;
  return offsets;
}

/// Segments with one blob each; equal blobs are stored once.
class BlobSegments {
 public:
  explicit BlobSegments(std::vector<Segment>& all) : all_(all) {}

  /// Adds a segment that is not merged with an equal one.
  uint32_t add_own(const Bytes& bytes, uint32_t alignment) {
    all_.push_back({0, bytes.size(), alignment, {{0, bytes}}});
    return static_cast<uint32_t>(all_.size() - 1);
  }

  uint32_t add(const Bytes& bytes, uint32_t alignment) {
    const auto next = static_cast<uint32_t>(all_.size());
    const auto [known, is_new] = index_of_.emplace(as_text(bytes), next);
    if (is_new) all_.push_back({0, bytes.size(), alignment, {{0, bytes}}});
    Segment& segment = all_[known->second];
    segment.alignment = std::max(segment.alignment, alignment);
    return known->second;
  }

 private:
  std::vector<Segment>& all_;
  std::unordered_map<std::string_view, uint32_t> index_of_;
};

}  // namespace

Segments lay_out(const Program& program) {
  Segments out;
  BlobSegments blobs(out.all);
  std::map<const NamedData*, uint32_t> segment_of;  // of the entries with records
  if (has_records(program)) {
    // The runtime finds the table of methods after the first entry.
    std::vector<std::string> keys = {abi::kProgramEntryKey, abi::kMethodsKey};
    for (size_t i = 1; i < program.plans.size(); ++i) keys.push_back(entry_key(program, i));
    // The records of an entry hold offsets from that entry, so that equal entries differ once the
    // offsets are known.
    for (const std::string& key : keys) {
      const NamedData* const entry = find_named_data(program, key);
      if (entry != nullptr) segment_of[entry] = blobs.add_own(entry->bytes, entry->alignment);
    }
  }
  out.constants.segment = static_cast<uint32_t>(out.all.size());
  if (program.constants_inline) {
    // They are written into the flatbuffer, where only their order matters.
  } else if (program.constants.size() == 1) {
    out.constants.offsets = {0};
  } else {
    out.constants.offsets =
        pack(program.constants, find_parts(program.constants, abi::kConstantAlignment),
             abi::kConstantAlignment, out.all.emplace_back());
  }
  for (const MutableSegment& data : program.mutable_segments) {
    // Initial values are copied and never used in place, so they need no alignment.
    SubsegmentOffsets& offsets = out.mutable_segments.emplace_back();
    offsets.segment = static_cast<uint32_t>(out.all.size());
    offsets.offsets = pack(data.buffers, {}, 1, out.all.emplace_back());
  }
  std::unordered_map<std::string_view, uint32_t> inline_index_of;
  for (const DelegateBlob& blob : program.delegate_blobs) {
    if (blob.location == BlobLocation::kSegment) {
      out.blob_index.push_back(blobs.add(blob.bytes, blob.alignment));
      continue;
    }
    const auto next = static_cast<uint32_t>(out.inline_blobs.size());
    const auto [known, is_new] = inline_index_of.emplace(as_text(blob.bytes), next);
    if (is_new) out.inline_blobs.push_back(blob.bytes);
    out.blob_index.push_back(known->second);
  }
  for (const NamedData& data : program.named_data) {
    const auto entry = segment_of.find(&data);
    out.named_data_index.push_back(
        entry != segment_of.end() ? entry->second : blobs.add(data.bytes, data.alignment));
  }
  for (Segment& segment : out.all) {
    segment.offset = align_up(out.size, segment.alignment);
    out.size = segment.offset + segment.size;
    out.alignment = std::max(out.alignment, segment.alignment);
  }
  return out;
}

}  // namespace thimble::formats::pte
