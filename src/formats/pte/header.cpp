// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/header.h"

#include "abi/pte_format.h"

namespace thimble::formats::pte {

namespace format = abi::pte;

Result<Header> parse_header(ByteView file, std::string_view label) {
  if (file.size() < format::kFileBytesMin) {
    return bad_input("{}: {} bytes, a program has at least {}", label, file.size(),
                     format::kFileBytesMin);
  }
  if (as_text(file.subspan(format::kIdentifierOffset, 4)) != format::kIdentifier) {
    return bad_input("{}: not an ExecuTorch program: expected the identifier {} at byte {}", label,
                     format::kIdentifier, format::kIdentifierOffset);
  }
  Header header;
  if (as_text(file.subspan(format::kHeaderOffset, 4)) != format::kHeaderMagic) {
    header.program_size = file.size();
    return header;
  }
  header.extended = true;
  const auto length = load_le<uint32_t>(file, format::kHeaderLengthOffset);
  if (length < format::kHeaderLengthMin) {
    return bad_input("{}: extended header: length {} is below {}", label, length,
                     format::kHeaderLengthMin);
  }
  header.program_size = load_le<uint64_t>(file, format::kProgramSizeOffset);
  header.segment_base = load_le<uint64_t>(file, format::kSegmentBaseOffset);
  if (length >= format::kHeaderLength) {
    header.segment_size = load_le<uint64_t>(file, format::kSegmentDataSizeOffset);
  }
  if (header.program_size > file.size()) {
    return bad_input("{}: extended header: a program of {} bytes in a file of {}", label,
                     header.program_size, file.size());
  }
  if (header.program_size < format::kHeaderOffset + format::kHeaderLengthMin) {
    return bad_input("{}: extended header: a program of {} bytes", label, header.program_size);
  }
  if (header.segment_base > file.size() ||
      header.segment_size > file.size() - header.segment_base) {
    return bad_input("{}: extended header: {} bytes of segments at {} leave the file of {} bytes",
                     label, header.segment_size, header.segment_base, file.size());
  }
  return header;
}

}  // namespace thimble::formats::pte
