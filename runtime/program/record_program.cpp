// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/record_program.h"

#include "abi/kernel_layout.h"
#include "abi/limits.h"
#include "runtime/program/checks.h"

namespace thimble::runtime {
namespace {

/// `segments` start with the program entry, and offsets in the header are relative to it.
Status check_header(const ByteRegion& segments) {
  const auto& entry = *reinterpret_cast<const abi::ProgramEntry*>(segments.data);
  const auto& header = *reinterpret_cast<const abi::RecordsHeader*>(segments.data + sizeof entry);
  if (!abi::is_known_kernel_layout(entry.kernel_layout_version)) return Status::kLayoutVersion;
  // A number is two words. A tensor has one word in `places` and one in `tensors`.
  const uint32_t words = 2U * header.numbers + header.operators + 2U * header.tensors +
                         header.shape_words + header.list_words;
  constexpr uint32_t kHeaderBytes = sizeof entry + sizeof header;
  const uint32_t bytes = kHeaderBytes + 4 * words + 2U * (header.inputs + header.outputs);
  const bool is_whole = header.bytes <= segments.bytes && bytes <= header.bytes &&
                        header.call_words == (header.bytes - bytes) / 2 && header.bytes % 2 == 0 &&
                        is_inside(header.constants_at, header.constants_bytes, segments.bytes) &&
                        header.constants_at % abi::kConstantAlignment == 0 &&
                        is_inside(header.state_at, header.state_bytes, segments.bytes) &&
                        header.state_at % 4 == 0 && entry.arena_bytes <= abi::kArenaBytesMax;
  return is_whole ? Status::kOk : Status::kCorrupt;
}

void locate_arrays(Position entry, RecordProgram& records) {
  const auto* const header =
      reinterpret_cast<const abi::RecordsHeader*>(entry + sizeof(abi::ProgramEntry));
  const auto* words = reinterpret_cast<const uint32_t*>(header + 1);
  records.header = header;
  words += 2 * header->numbers + header->operators;
  records.places = words;
  words += header->tensors;
  records.tensors = reinterpret_cast<const abi::RecordTensor*>(words);
  words += header->tensors;
  records.shapes = words;
  words += header->shape_words;
  records.lists = reinterpret_cast<const int32_t*>(words);
  words += header->list_words;
  records.inputs = reinterpret_cast<const uint16_t*>(words);
  records.outputs = records.inputs + header->inputs;
  records.calls = records.outputs + header->outputs;
  records.constants = entry + header->constants_at;
}

}  // namespace

Status open_records(const ByteRegion& segments, RecordProgram& records) {
  if (segments.bytes < sizeof(abi::ProgramEntry) + sizeof(abi::RecordsHeader) ||
      reinterpret_cast<uintptr_t>(segments.data) % abi::kConstantAlignment != 0) {
    return Status::kCorrupt;
  }
  THIMBLE_RETURN_IF_ERROR(check_header(segments));
  locate_arrays(segments.data, records);
  return Status::kOk;
}

}  // namespace thimble::runtime
