// SPDX-License-Identifier: Apache-2.0
// AxonBackend. The file contains only a name. The network itself is generated C code, compiled into
// the firmware and linked with the vendor's driver, which also provides its memory.

#include "engines/axon/container/marker.h"
#include "abi/freestanding.h"
#include "engines/axon/delegate_vendor/backend.h"
#include "engines/axon/delegate_vendor/job.h"

namespace thimble::runtime::axon_vendor::marker {
namespace {

namespace format = abi::axon;

struct SlotData {
  const thimble_axon_subgraph* subgraph;
  thimble_axon_counter* counter;
};

uint32_t length_of(const char* text) {
  uint32_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

/// Finds the subgraph by name. If it is missing, the status tells whether another version of the
/// network exists.
Status find(const thimble_axon_silicon& chip, const format::Marker& marker,
            const thimble_axon_subgraph*& found) {
  constexpr uint32_t kHash = format::kMarkerHashDigits;
  bool stale = false;
  for (uint32_t i = 0; i < chip.subgraph_count; ++i) {
    const char* const name = chip.subgraphs[i].name;
    if (length_of(name) != marker.name_bytes) continue;
    if (memcmp(name, marker.name, marker.name_bytes) == 0) {
      found = &chip.subgraphs[i];
      return Status::kOk;
    }
    stale = stale || (marker.name_bytes > kHash &&
                      memcmp(name, marker.name, marker.name_bytes - kHash) == 0);
  }
  return stale ? Status::kStaleProgram : Status::kUnknownProgram;
}

}  // namespace

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes) {
  const auto* const chip = static_cast<const thimble_axon_silicon*>(self.device);
  if (chip == nullptr) return Status::kMissingDelegate;
  format::Marker marker;
  if (!format::read_marker(source.payload.data, source.payload.bytes, marker)) {
    return Status::kBadPayload;
  }
  SlotData& work = *new (abi::Place{slot.data}) SlotData{};
  THIMBLE_RETURN_IF_ERROR(find(*chip, marker, work.subgraph));
  const thimble_axon_subgraph& subgraph = *work.subgraph;
  if (chip->driver_version != 0 && chip->driver_version < subgraph.driver_version) {
    return Status::kDriverVersion;
  }
  if (subgraph.interlayer_bytes > chip->interlayer_bytes ||
      subgraph.partial_sum_bytes > chip->partial_sum_bytes) {
    return Status::kScratchTooSmall;
  }
  scratch_bytes = 0;
  return Status::kOk;
}

Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args) {
  SlotData& work = slot_data<SlotData>(slot);
  const thimble_axon_subgraph& subgraph = *work.subgraph;
  if (args.count() != uint32_t{subgraph.input_count} + subgraph.output_count) {
    return Status::kBadPayload;
  }
  for (uint32_t i = 0; i < args.count(); ++i)
    THIMBLE_RETURN_IF_ERROR(check_tensor(subgraph.tensors[i], args, i, i >= subgraph.input_count));
  if (memory.scratch == nullptr) return Status::kOk;
  return take_row(chip_of(slot), subgraph.name, work.counter);
}

Status run(const DelegateSlot& slot, const DelegateArgs& args) {
  const SlotData& work = slot_data<SlotData>(slot);
  const thimble_axon_subgraph& subgraph = *work.subgraph;
  const Job job = {static_cast<const Word*>(subgraph.words), subgraph.word_count, subgraph.cycles,
                   work.counter};
  return run_job(
      chip_of(slot), job, args, subgraph.input_count,
      [&](uint32_t index) -> const thimble_axon_tensor& { return subgraph.tensors[index]; });
}

}  // namespace thimble::runtime::axon_vendor::marker
