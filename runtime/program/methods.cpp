// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/methods.h"

#include "abi/limits.h"
#include "abi/records.h"
#include "runtime/program/checks.h"

namespace thimble::runtime {
namespace {

constexpr uint32_t kHeaderBytes = sizeof(abi::ProgramEntry) + sizeof(abi::RecordsHeader);

/// The values that all methods of a file have in common.
struct Shared {
  uint32_t arena_bytes, state_at, state_bytes;  // `state_at` from the start of the segments
};

bool is_name(const char (&found)[abi::kMethodNameMax], const char* wanted) {
  for (uint32_t i = 0; i < abi::kMethodNameMax; ++i) {
    if (found[i] != wanted[i]) return false;
    if (found[i] == 0) return true;
  }
  return wanted[abi::kMethodNameMax] == 0;
}

/// Reads the header of the entry at `at`, which ends inside the segments.
Status read_shared(const ByteRegion& segments, uint32_t at, Shared& shared) {
  const bool inside = at % abi::kConstantAlignment == 0 && at <= segments.bytes &&
                      segments.bytes - at >= kHeaderBytes;
  if (!inside) return Status::kCorrupt;
  abi::ProgramEntry entry;
  abi::RecordsHeader header;
  memcpy(&entry, segments.data + at, sizeof entry);
  memcpy(&header, segments.data + at + sizeof entry, sizeof header);
  if (entry.magic != abi::kProgramEntryMagic || entry.entry_version != abi::kEntryVersionRecords) {
    return Status::kCorrupt;
  }
  // A sum that wraps is not equal to that of another entry, or refers to the same bytes: the
  // position is verified when the method is loaded.
  const uint32_t state_at = header.state_at == 0 ? 0 : at + header.state_at;
  shared = {entry.arena_bytes, state_at, header.state_bytes};
  return Status::kOk;
}

}  // namespace

Status select_method(const char* method, ByteRegion& segments) {
  if (segments.bytes < kHeaderBytes) return Status::kMissingMethod;
  abi::ProgramEntry entry;
  memcpy(&entry, segments.data, sizeof entry);
  const bool has_methods = entry.magic == abi::kProgramEntryMagic &&
                           entry.entry_version == abi::kEntryVersionRecords && entry.methods != 0;
  if (!has_methods) return Status::kMissingMethod;
  if (reinterpret_cast<uintptr_t>(segments.data) % abi::kConstantAlignment != 0) {
    return Status::kCorrupt;
  }
  Shared first;
  THIMBLE_RETURN_IF_ERROR(read_shared(segments, 0, first));
  const auto records_bytes = read<uint32_t>(segments.data + sizeof entry);
  if (records_bytes > segments.bytes) return Status::kCorrupt;
  constexpr uint32_t kAlign = abi::kConstantAlignment;
  const uint32_t table = (records_bytes + kAlign - 1) / kAlign * kAlign;
  if (!is_inside(table, entry.methods * uint32_t{sizeof(abi::MethodRecord)}, segments.bytes)) {
    return Status::kCorrupt;
  }
  uint32_t found = 0;
  bool is_found = false;
  for (uint32_t i = 0; i < entry.methods; ++i) {
    abi::MethodRecord record;
    memcpy(&record, segments.data + table + i * sizeof record, sizeof record);
    Shared shared;
    THIMBLE_RETURN_IF_ERROR(read_shared(segments, record.entry_at, shared));
    const bool same = shared.arena_bytes == first.arena_bytes &&
                      shared.state_at == first.state_at && shared.state_bytes == first.state_bytes;
    if (!same) return Status::kCorrupt;
    if (is_found || !is_name(record.name, method)) continue;
    is_found = true;
    found = record.entry_at;
  }
  if (!is_found) return Status::kMissingMethod;
  segments = {segments.data + found, segments.bytes - found};
  return Status::kOk;
}

}  // namespace thimble::runtime
