// SPDX-License-Identifier: Apache-2.0
#include <flatbuffers/flatbuffers.h>

#include "base/aligned_bytes.h"
#include "formats/ptd/ptd.h"
#include "ptd_generated.h"

namespace thimble::formats::ptd {
namespace {

// The extended header follows the identifier of the flatbuffer: magic, its own length, and four
// numbers of 64 bits.
constexpr size_t kHeaderOffset = 8, kHeaderBytes = 40;
constexpr std::string_view kHeaderMagic = "FH01";
constexpr flatbuffers::uoffset_t kDepthMax = 16, kTablesMax = 10'000'000;

struct Header {
  uint64_t flatbuffer_offset = 0, flatbuffer_bytes = 0, segment_base = 0, segment_bytes = 0;
};

Result<Header> read_header(ByteView file, std::string_view label) {
  if (file.size() < kHeaderOffset + kHeaderBytes ||
      as_text(file).substr(kHeaderOffset, kHeaderMagic.size()) != kHeaderMagic) {
    return bad_input("{}: not a data file: its header {} is missing", label, kHeaderMagic);
  }
  const auto number = [&](size_t i) {
    return load_le<uint64_t>(file, kHeaderOffset + 8 + i * sizeof(uint64_t));
  };
  const Header header{number(0), number(1), number(2), number(3)};
  const auto is_inside = [&](uint64_t offset, uint64_t bytes) {
    return offset <= file.size() && bytes <= file.size() - offset;
  };
  if (!is_inside(header.flatbuffer_offset, header.flatbuffer_bytes) ||
      !is_inside(header.segment_base, header.segment_bytes)) {
    return bad_input("{}: the ranges of the header exceed the {} bytes of the file", label,
                     file.size());
  }
  return header;
}

}  // namespace

Result<DataFile> read(ByteView file, std::string_view label) {
  THIMBLE_TRY(const Header header, read_header(file, label));
  // The flatbuffer begins at byte 0 and contains the header. Its length in the header counts from
  // the end of the header.
  const AlignedBytes tables(file.first(header.flatbuffer_offset + header.flatbuffer_bytes));
  flatbuffers::Verifier verifier(tables.data(), tables.size(), kDepthMax, kTablesMax);
  if (!fb::VerifyFlatTensorBuffer(verifier)) {
    return bad_input("{}: the flatbuffer is truncated or damaged", label);
  }
  const ByteView segments = file.subspan(header.segment_base, header.segment_bytes);
  const fb::FlatTensor* root = fb::GetFlatTensor(tables.data());
  DataFile data;
  if (root->named_data() == nullptr) return data;
  const size_t count = root->segments() == nullptr ? 0 : root->segments()->size();
  for (const fb::NamedData* named : *root->named_data()) {
    if (named->key() == nullptr) return bad_input("{}: an entry has no key", label);
    const std::string key = named->key()->str();
    if (named->segment_index() >= count) {
      return bad_input("{}: {}: {} is not an index of {} segments", label, key,
                       named->segment_index(), count);
    }
    const fb::DataSegment* segment = root->segments()->Get(named->segment_index());
    if (segment->offset() > segments.size() ||
        segment->size() > segments.size() - segment->offset()) {
      return bad_input("{}: {}: its segment exceeds the {} bytes of all", label, key,
                       segments.size());
    }
    Entry entry;
    entry.bytes = segments.subspan(segment->offset(), segment->size());
    if (const fb::TensorLayout* layout = named->tensor_layout()) {
      entry.layout.emplace().scalar_type = static_cast<pte::ScalarType>(layout->scalar_type());
      if (layout->sizes() != nullptr) {
        entry.layout->sizes.assign(layout->sizes()->begin(), layout->sizes()->end());
      }
      if (layout->dim_order() != nullptr) {
        entry.layout->dim_order.assign(layout->dim_order()->begin(), layout->dim_order()->end());
      }
    }
    if (!data.emplace(key, std::move(entry)).second) {
      return bad_input("{}: {}: the key is used twice", label, key);
    }
  }
  return data;
}

}  // namespace thimble::formats::ptd
