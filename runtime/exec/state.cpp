// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/state.h"

#include "abi/named_data.h"
#include "runtime/program/checks.h"

namespace thimble::runtime {
namespace {

/// Calls visit(address of the range in the arena, record) for each state.
template <class Visit>
void for_each_state(const Model& model, Visit visit) {
  if (model.state == nullptr) return;
  abi::StateHeader header;
  memcpy(&header, model.state, sizeof header);
  Position at = model.state + sizeof header;
  for (uint32_t i = 0; i < header.count; ++i, at += sizeof(abi::StateRecord)) {
    abi::StateRecord record;
    memcpy(&record, at, sizeof record);
    visit(model.arena + record.arena_offset, record);
  }
}

}  // namespace

Status check_state(ByteRegion entry, uint32_t arena_bytes) {
  abi::StateHeader header;
  if (entry.bytes < sizeof header) return Status::kCorrupt;
  memcpy(&header, entry.data, sizeof header);
  if (header.count > (entry.bytes - sizeof header) / sizeof(abi::StateRecord)) {
    return Status::kCorrupt;
  }
  uint32_t rest = header.bytes;
  for (uint32_t i = 0; i < header.count; ++i) {
    abi::StateRecord record;
    memcpy(&record, entry.data + sizeof header + i * sizeof record, sizeof record);
    const bool in_arena = is_inside(record.arena_offset, record.bytes, arena_bytes);
    const bool in_entry =
        record.content == 0 || is_inside(record.content, record.bytes, entry.bytes);
    if (!in_arena || !in_entry || record.bytes > rest) return Status::kCorrupt;
    rest -= record.bytes;
  }
  return rest == 0 ? Status::kOk : Status::kCorrupt;
}

uint32_t total_state_bytes(Position state) {
  if (state == nullptr) return 0;
  // The entry of named data can start at any address: read() would assume that it is aligned.
  uint32_t bytes;
  memcpy(&bytes, state + offsetof(abi::StateHeader, bytes), sizeof bytes);
  return bytes;
}

void reset_state(const Model& model) {
  for_each_state(model, [&](uint8_t* range, const abi::StateRecord& record) {
    if (record.content != 0) {
      memcpy(range, model.state + record.content, record.bytes);
    } else {
      memset(range, static_cast<int>(record.fill & 255), record.bytes);
    }
  });
}

Status save_state(const Model& model, void* to, size_t bytes) {
  if (bytes != total_state_bytes(model.state) || (to == nullptr && bytes != 0)) {
    return Status::kBadArgument;
  }
  auto* at = static_cast<uint8_t*>(to);
  for_each_state(model, [&](const uint8_t* range, const abi::StateRecord& record) {
    memcpy(at, range, record.bytes);
    at += record.bytes;
  });
  return Status::kOk;
}

Status restore_state(const Model& model, const void* from, size_t bytes) {
  if (bytes != total_state_bytes(model.state) || (from == nullptr && bytes != 0)) {
    return Status::kBadArgument;
  }
  auto* at = static_cast<const uint8_t*>(from);
  for_each_state(model, [&](uint8_t* range, const abi::StateRecord& record) {
    memcpy(range, at, record.bytes);
    at += record.bytes;
  });
  return Status::kOk;
}

}  // namespace thimble::runtime
