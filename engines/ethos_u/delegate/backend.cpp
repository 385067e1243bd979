// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/delegate/backend.h"

#include "abi/freestanding.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/delegate/driver.h"
#include "engines/ethos_u/delegate/stream_scan.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "runtime/exec/flatbuffer_decode.h"

namespace thimble::runtime::ethos_u {
namespace {

namespace isa = thimble::ethos_u;
namespace payload = abi::ethos_u;

/// Data of a delegate slot.
struct SlotData {
  Job job;
  const uint8_t* inputs;  // tables of payload::IoEntry
  const uint8_t* outputs;
  uint16_t input_count, output_count;
  bool is_u85;
  uint8_t overlap;
  [[nodiscard]] payload::IoEntry entry(uint32_t arg) const {
    payload::IoEntry entry;
    const uint8_t* const table = arg < input_count ? inputs : outputs;
    const uint32_t index = arg < input_count ? arg : arg - input_count;
    memcpy(&entry, table + index * sizeof entry, sizeof entry);
    return entry;
  }
};
static_assert(payload::kIoMax <= 0xFFFF);

const thimble_ethos_u& npu_of(const DelegateSlot& slot) {
  return *static_cast<const thimble_ethos_u*>(slot.backend->device);
}

/// Finds the content of a block, which is either in the payload or in named data of the file.
Status find_block_content(const DelegateSource& source, const payload::BlockContent& piece,
                          Bytes& bytes) {
  bytes = {piece.data, piece.bytes};
  if (!piece.external) return Status::kOk;
  ByteRegion found;
  THIMBLE_RETURN_IF_ERROR(source.find_data(piece.data, piece.bytes, found));
  if (reinterpret_cast<uintptr_t>(found.data) % payload::kPayloadAlignment != 0) {
    return Status::kBadPayload;
  }
  bytes = {found.data, found.bytes};
  return Status::kOk;
}

/// Checks that a table entry is inside scratch. `bytes` is set to its size.
Status check_entry(const SlotData& data, const payload::IoEntry& entry, uint32_t& bytes) {
  if (entry.region != static_cast<int32_t>(kRegionScratch)) return Status::kUnsupported;
  uint64_t product = static_cast<uint32_t>(entry.element_bytes);
  for (const int32_t size : entry.shape) {
    if (size < 0) return Status::kBadPayload;
    product *= static_cast<uint32_t>(size);
    if (product > kernels::kMaxTensorBytes) return Status::kBadPayload;
  }
  bytes = static_cast<uint32_t>(product);
  const auto offset = static_cast<uint32_t>(entry.offset);
  const uint32_t room = data.job.scratch_bytes;
  return offset <= room && bytes <= room - offset ? Status::kOk : Status::kBadPayload;
}

/// Checks that tensor and table entry agree and that the entry is inside scratch.
Status check_tensor(const SlotData& data, const DelegateArgs& args, uint32_t index) {
  const payload::IoEntry entry = data.entry(index);
  const kernels::Tensor tensor = args.tensor(index);
  if (tensor.dtype == kernels::DType::kF32 || tensor.dtype == kernels::DType::kI64) {
    return Status::kBadDType;
  }
  const auto element = element_bytes(static_cast<uint32_t>(tensor.dtype));
  if (entry.element_bytes != static_cast<int32_t>(element)) return Status::kBadDType;
  uint32_t bytes = 0;
  const Status status = check_entry(data, entry, bytes);
  return status == Status::kOk && bytes != tensor.bytes ? Status::kBadShape : status;
}

bool disjoint(uint32_t a, uint32_t a_bytes, uint32_t b, uint32_t b_bytes) {
  return a + a_bytes <= b || b + b_bytes <= a;
}

/// Checks that a tensor of the arena is either at the table's address in scratch, or outside of the
/// memory that the NPU writes.
Status check_place(const SlotData& data, const DelegateMemory& memory, const DelegateArgs& args,
                   uint32_t index) {
  const bool is_output = index >= data.input_count;
  const uint32_t offset = args.offset(index);
  if (offset == kNotPlanned) return is_output ? Status::kCorrupt : Status::kOk;
  const kernels::Tensor tensor = args.tensor(index);
  if (is_output && tensor.is_constant) return Status::kCorrupt;
  const auto place = memory.scratch_offset + static_cast<uint32_t>(data.entry(index).offset);
  const bool free = disjoint(offset, tensor.bytes, memory.scratch_offset, data.job.scratch_bytes);
  const bool clear =
      !memory.fast_planned || disjoint(offset, tensor.bytes, memory.fast_offset, memory.fast_bytes);
  return (offset == place || free) && clear ? Status::kOk : Status::kCorrupt;
}

/// Sets the address of fast scratch: planned in the arena, or the product's own SRAM.
Status place_fast(const thimble_ethos_u& npu, const DelegateMemory& memory, bool used, Job& job) {
  job.fast = nullptr;
  job.fast_bytes = 0;
  if (!used) return Status::kOk;
  if (memory.fast_planned) {
    job.fast = memory.fast;
    job.fast_bytes = memory.fast_bytes;
    return disjoint(memory.fast_offset, memory.fast_bytes, memory.scratch_offset, job.scratch_bytes)
               ? Status::kOk
               : Status::kCorrupt;
  }
  const bool enough = npu.fast_memory != nullptr && memory.fast_bytes <= npu.fast_bytes;
  if (!enough) return Status::kNoFastMemory;
  job.fast = static_cast<uint8_t*>(npu.fast_memory);
  job.fast_bytes = memory.fast_bytes != 0 ? memory.fast_bytes : npu.fast_bytes;
  return Status::kOk;
}

bool uses_region(const StreamFacts& facts, uint32_t region) {
  return ((facts.reads | facts.writes) & 1U << region) != 0;
}

Status check_stream(const SlotData& data, StreamFacts& facts) {
  THIMBLE_RETURN_IF_ERROR(scan_stream(data.job.stream, data.is_u85, facts));
  constexpr uint32_t kOthers = ~(1U << kRegionConstants | 1U << kRegionScratch | 1U << kRegionFast);
  if (((facts.reads | facts.writes) & kOthers) != 0) return Status::kUnsupported;
  return (facts.writes & 1U << kRegionConstants) == 0 ? Status::kOk : Status::kBadPayload;
}

void copy_inputs(const DelegateSlot& slot, const DelegateArgs& args) {
  const SlotData& data = slot_data<SlotData>(slot);
  for (uint32_t i = 0; i < data.input_count; ++i) {
    const kernels::Tensor tensor = args.tensor(i);
    uint8_t* const place = data.job.scratch + data.entry(i).offset;
    if (place != tensor.data && tensor.bytes != 0) memcpy(place, tensor.data, tensor.bytes);
  }
}

void copy_outputs(const DelegateSlot& slot, const DelegateArgs& args) {
  const SlotData& data = slot_data<SlotData>(slot);
  for (uint32_t i = data.input_count; i < args.count(); ++i) {
    const kernels::Tensor tensor = args.tensor(i);
    const uint8_t* const place = data.job.scratch + data.entry(i).offset;
    if (place != tensor.data && tensor.bytes != 0) memcpy(tensor.data, place, tensor.bytes);
  }
}

}  // namespace

DelegateBackend backend(const thimble_ethos_u* npu) {
  return {payload::kDelegateId, npu, open, check, run, nullptr, persistent_bytes, &background};
}

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes) {
  if (self.device == nullptr) return Status::kMissingDelegate;
  payload::PayloadView view;
  Status status = payload::read_payload(source.payload.data, source.payload.bytes, view);
  if (status != Status::kOk) return Status::kBadPayload;
  SlotData& data = *new (abi::Place{slot.data}) SlotData{};
  Bytes commands;
  status = find_block_content(source, view.commands, commands);
  if (status == Status::kOk) status = find_block_content(source, view.weights, data.job.constants);
  if (status != Status::kOk) return status;

  isa::DriverPayload header;
  if (!isa::read_driver_payload(commands.data, commands.bytes, header)) {
    return Status::kBadPayload;
  }
  status = check_npu(npu_of(slot), header.config, header.id);
  if (status != Status::kOk) return status;
  data.job.stream = {commands.data + header.stream_offset, header.stream_words * 4};
  data.job.scratch_bytes = view.scratch_bytes;
  data.inputs = view.inputs.entries;
  data.outputs = view.outputs.entries;
  data.input_count = static_cast<uint16_t>(view.inputs.count);
  data.output_count = static_cast<uint16_t>(view.outputs.count);
  data.is_u85 = isa::product_of(header.config) == 2;
  scratch_bytes = view.scratch_bytes;
  return Status::kOk;
}

Status check_tensors(const DelegateSlot& slot, const DelegateMemory& memory,
                     const DelegateArgs& args) {
  const SlotData& data = slot_data<SlotData>(slot);
  if (args.count() != uint32_t{data.input_count} + data.output_count) return Status::kBadPayload;
  for (uint32_t i = 0; i < args.count(); ++i) {
    Status status = check_tensor(data, args, i);
    if (status == Status::kOk) status = check_place(data, memory, args, i);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

Status check_payload(const DelegateSlot& slot, bool& uses_fast) {
  const SlotData& data = slot_data<SlotData>(slot);
  for (uint32_t i = 0; i < uint32_t{data.input_count} + data.output_count; ++i) {
    const payload::IoEntry entry = data.entry(i);
    const int32_t element = entry.element_bytes;
    if (element != 1 && element != 2 && element != 4) return Status::kBadPayload;
    uint32_t bytes;
    THIMBLE_RETURN_IF_ERROR(check_entry(data, entry, bytes));
  }
  StreamFacts facts;
  THIMBLE_RETURN_IF_ERROR(check_stream(data, facts));
  uses_fast = uses_region(facts, kRegionFast);
  return Status::kOk;
}

Job& job_of(DelegateSlot& slot) {
  return slot_data<SlotData>(slot).job;
}

Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args) {
  SlotData& data = slot_data<SlotData>(slot);
  THIMBLE_RETURN_IF_ERROR(check_tensors(slot, memory, args));
  StreamFacts facts;
  THIMBLE_RETURN_IF_ERROR(check_stream(data, facts));
  data.job.scratch = memory.scratch;
  data.job.mode = memory.mode;
  data.job.started = memory.persistent;
  data.overlap = memory.overlap;
  return place_fast(npu_of(slot), memory, uses_region(facts, kRegionFast), data.job);
}

Status run(const DelegateSlot& slot, const DelegateArgs& args) {
  copy_inputs(slot, args);
  THIMBLE_RETURN_IF_ERROR(run_job(npu_of(slot), slot_data<SlotData>(slot).job));
  copy_outputs(slot, args);
  return Status::kOk;
}

namespace {

Status start(const DelegateSlot& slot, const DelegateArgs& args) {
  copy_inputs(slot, args);
  return start_job(npu_of(slot), slot_data<SlotData>(slot).job);
}

Status wait(const DelegateSlot& slot, const DelegateArgs& args) {
  THIMBLE_RETURN_IF_ERROR(finish_job(npu_of(slot), slot_data<SlotData>(slot).job));
  copy_outputs(slot, args);
  return Status::kOk;
}

uint32_t overlap(const DelegateSlot& slot) {
  return slot_data<SlotData>(slot).overlap;
}

}  // namespace

const BackgroundCalls background = background_calls(start, wait, overlap);

uint32_t persistent_bytes(const DelegateBackend&) {
  return started_job_bytes();
}

}  // namespace thimble::runtime::ethos_u
