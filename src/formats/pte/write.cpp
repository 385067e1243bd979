// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/write.h"

#include "abi/pte_format.h"
#include "formats/pte/check.h"
#include "formats/pte/segments.h"
#include "formats/pte/tables.h"

namespace thimble::formats::pte {
namespace {

/// Inserts the extended header between the identifier and the rest of the flatbuffer. Everything
/// after it moves by its length, which is 32, so every alignment is kept. Only the root offset
/// crosses the header.
Bytes insert_header(ByteView tables, const Segments& segments) {
  constexpr size_t kHead = abi::pte::kHeaderOffset;
  const uint64_t program_size = tables.size() + abi::pte::kHeaderLength;
  Bytes out;
  append_le(out, load_le<uint32_t>(tables, 0) + abi::pte::kHeaderLength);
  append(out, tables.subspan(abi::pte::kIdentifierOffset, kHead - abi::pte::kIdentifierOffset));
  append(out, as_byte_view(abi::pte::kHeaderMagic));
  append_le(out, abi::pte::kHeaderLength);
  append_le(out, program_size);
  append_le(out, align_up(program_size, segments.alignment));
  append_le(out, segments.size);
  append(out, tables.subspan(kHead));
  return out;
}

void append_segments(Bytes& out, const Segments& segments) {
  const uint64_t base = align_up(out.size(), segments.alignment);
  out.reserve(base + segments.size);
  for (const Segment& segment : segments.all) {
    for (const Piece& piece : segment.pieces) {
      out.resize(base + segment.offset + piece.offset);
      append(out, piece.bytes);
    }
  }
  out.resize(base + segments.size);
}

}  // namespace

Result<Bytes> write(const Program& program) {
  THIMBLE_CHECK(check(program, "program"));
  const Segments segments = lay_out(program);
  Bytes out = build_tables(program, segments);
  if (!segments.all.empty()) {
    out = insert_header(out, segments);
    append_segments(out, segments);
  }
  if (out.size() < abi::pte::kFileBytesMin) out.resize(abi::pte::kFileBytesMin);
  return out;
}

}  // namespace thimble::formats::pte
