// SPDX-License-Identifier: Apache-2.0
// See delegates.h. Positions are looked up again from the root of the file, with every step
// verified, so that loading a file without delegates costs only two pointers.

#include "runtime/exec/delegates.h"

#include "runtime/exec/flatbuffer_decode.h"
#include "runtime/program/checks.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;

constexpr char kDelegateFields[] = "\4\4\4";
constexpr char kReferenceFields[] = "\1\4";
constexpr char kInlineFields[] = "\4";

const Model& model_of(const DelegateArgs& args) {
  return *static_cast<const Model*>(args.call);
}

/// Finds the payload that a delegate refers to.
Status find_payload(CheckedAccess& access, Position delegate, ByteRegion& payload) {
  Verifier& verifier = access.verifier;
  TableKind kind(kReferenceFields);
  const Position reference = verifier.child(delegate, pte::backend_delegate::kProcessed, kind);
  if (reference == nullptr) return Status::kCorrupt;
  const auto location = read_field<int8_t>(reference, pte::delegate_data_reference::kLocation);
  const auto index = read_field<uint32_t>(reference, pte::delegate_data_reference::kIndex);
  if (location == pte::blob_location::kSegment) return find_segment(access, index, payload);
  if (location != pte::blob_location::kInline) return Status::kCorrupt;
  const FlatVector inlined = verifier.vector(access.program, pte::program::kBackendDelegateData, 2);
  if (index >= inlined.count()) return Status::kCorrupt;
  TableKind inline_kind(kInlineFields);
  const Position data = verifier.table(inlined.item(index, 4), inline_kind);
  if (data == nullptr) return Status::kCorrupt;
  const FlatVector bytes = verifier.vector(data, pte::inline_data::kData, 0);
  payload = {bytes.item(0, 1), bytes.count()};
  return verifier.failed() ? Status::kCorrupt : Status::kOk;
}

bool same_name(FlatVector name, const char* text) {
  const uint32_t count = name.count();
  for (uint32_t i = 0; i < count; ++i) {
    if (text[i] == 0 || static_cast<uint8_t>(text[i]) != *name.item(i, 1)) return false;
  }
  return text[count] == 0;
}

/// Row of the plan's delegates.
struct DelegateRow {
  Position table = nullptr;  // null if the file has no such row
  FlatVector id;             // name of its backend
};

DelegateRow find_row(CheckedAccess& access, uint32_t index) {
  Verifier& verifier = access.verifier;
  DelegateRow row;
  const FlatVector rows = verifier.vector(access.plan, pte::execution_plan::kDelegates, 2);
  if (index >= rows.count()) return row;
  TableKind kind(kDelegateFields);
  row.table = verifier.table(rows.item(index, 4), kind);
  if (row.table != nullptr) row.id = verifier.vector(row.table, pte::backend_delegate::kId, 0);
  return row;
}

/// Opens row `index` of the plan's delegates.
Status open_row(CheckedAccess& access, const DelegateBackends& delegates, uint32_t index,
                DelegateSlot& slot, uint32_t& scratch_bytes) {
  const DelegateRow row = find_row(access, index);
  if (row.table == nullptr) return Status::kCorrupt;
  const DelegateBackend* backend = delegates.backends;
  const DelegateBackend* const end = backend + delegates.count;
  while (backend != end && !same_name(row.id, backend->id)) ++backend;
  if (backend == end) return access.failed() ? Status::kCorrupt : Status::kMissingDelegate;

  DelegateSource source = {&access, {}};
  THIMBLE_RETURN_IF_ERROR(find_payload(access, row.table, source.payload));
  slot.backend = backend;
  return backend->open(*backend, source, slot, scratch_bytes);
}

/// Returns true if the range is aligned and inside the arena.
bool is_aligned_arena_range(const FlatbufferProgram& flatbuffer, uint32_t offset, uint32_t bytes) {
  return offset % abi::kArenaAlignment == 0 && is_inside(offset, bytes, flatbuffer.arena_bytes);
}

/// Largest persistent_bytes of all linked backends. Every delegate of the plan gets this size.
uint32_t persistent_bytes_max(const DelegateBackends& delegates) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < delegates.count; ++i) {
    const DelegateBackend& backend = delegates.backends[i];
    if (backend.persistent_bytes == nullptr) continue;
    const uint32_t bytes = align_to_arena(backend.persistent_bytes(backend));
    if (bytes > most) most = bytes;
  }
  return most;
}

/// The persistent memory of row `index`, after the slots.
uint8_t* persistent_memory(const CheckedAccess& access, const Model& model, uint32_t index,
                           uint32_t row_bytes) {
  const FlatVector rows = vector(access.plan, pte::execution_plan::kDelegates);
  auto* const end = reinterpret_cast<uint8_t*>(slots_of(model) + rows.count());
  const auto past = static_cast<uint32_t>(end - model.arena);
  return model.arena + align_to_arena(past) + index * row_bytes;
}

/// Adds the scratch that depends on the tensors of this call to `bytes`.
Status add_call_scratch(const DelegateSlot& slot, const DelegateArgs& args, uint32_t& bytes) {
  if (slot.backend->call_scratch == nullptr) return Status::kOk;
  const uint32_t more = slot.backend->call_scratch(slot, args);
  if (more > abi::kArenaBytesMax - bytes) return Status::kBadPayload;
  bytes += more;
  return Status::kOk;
}

/// Finds the memory of the row: at the offsets in the file, or after the arena.
Status find_memory(const CheckedAccess& access, const Model& model, uint32_t index,
                   uint32_t scratch_bytes, DelegateMemory& memory) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  if (access.delegates.data == nullptr) {
    memory.scratch_offset = align_to_arena(flatbuffer.arena_bytes);
  } else {
    abi::DelegateRecord record;  // it exists: measure_delegates() has checked the size
    memcpy(&record, access.delegates.data + index * sizeof record, sizeof record);
    if (!is_aligned_arena_range(flatbuffer, record.scratch_offset, scratch_bytes))
      return Status::kCorrupt;
    memory.scratch_offset = record.scratch_offset;
    memory.mode = record.memory_mode;
    memory.overlap = record.overlap;
    memory.fast_bytes = record.fast_bytes;
    if (record.fast_bytes != 0 && record.fast_offset != abi::kFastOnDevice) {
      if (!is_aligned_arena_range(flatbuffer, record.fast_offset, record.fast_bytes))
        return Status::kCorrupt;
      memory.fast_offset = record.fast_offset;
      if (model.arena != nullptr) memory.fast = model.arena + record.fast_offset;
    }
    memory.fast_planned = memory.fast_bytes != 0 && record.fast_offset != abi::kFastOnDevice;
  }
  if (model.arena != nullptr) memory.scratch = model.arena + memory.scratch_offset;
  return Status::kOk;
}

/// Checks the calls that run while the delegate of instruction `at` works: they exist, and none of
/// them starts a device that works longer than the call, or needs the same one.
Status check_overlap(CheckedAccess& access, const Model& model, uint32_t at,
                     const DelegateSlot& slot, uint32_t overlap) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  if (overlap >= flatbuffer.instructions.count() - at) return Status::kCorrupt;
  for (uint32_t i = at + 1; i <= at + overlap; ++i) {
    if (!is_delegate_call(flatbuffer, i)) continue;
    const uint32_t index = instruction_at(flatbuffer, i).row;
    abi::DelegateRecord record;
    if (index >= access.delegates.bytes / sizeof record) return Status::kCorrupt;
    memcpy(&record, access.delegates.data + index * sizeof record, sizeof record);
    const DelegateRow row = find_row(access, index);
    const bool same_device = row.table != nullptr && same_name(row.id, slot.backend->id);
    if (record.overlap != 0 || row.table == nullptr || same_device) return Status::kCorrupt;
  }
  return Status::kOk;
}

/// Adds scratch that the file has not planned, after the arena. Such a file has no overlap, so all
/// calls share it.
Status add_unplanned_scratch(const FlatbufferProgram& flatbuffer, uint32_t scratch_bytes,
                             DelegateNeeds& needs) {
  const uint32_t start = align_to_arena(flatbuffer.arena_bytes);
  if (scratch_bytes > abi::kArenaBytesMax - start) return Status::kBadPayload;
  if (start + scratch_bytes > needs.arena_bytes) needs.arena_bytes = start + scratch_bytes;
  return Status::kOk;
}

/// Adds the scratch of calls that depends on their tensors, for files without planned scratch.
Status measure_calls(CheckedAccess& access, const Model& model, const DelegateBackends& delegates,
                     DelegateNeeds& needs) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  for (uint32_t i = 0; i < flatbuffer.instructions.count(); ++i) {
    if (!is_delegate_call(flatbuffer, i)) continue;
    const Instruction call = instruction_at(flatbuffer, i);
    DelegateSlot slot;
    uint32_t bytes = 0;
    Status status = open_row(access, delegates, call.row, slot, bytes);
    if (status == Status::kOk && slot.backend->call_scratch == nullptr) continue;
    if (status == Status::kOk) status = check_tensors(access, model, call.args);
    if (status == Status::kOk) status = add_call_scratch(slot, {&model, call.args}, bytes);
    if (status == Status::kOk) status = add_unplanned_scratch(flatbuffer, bytes, needs);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

}  // namespace

Status DelegateSource::find_data(const uint8_t* key, uint32_t key_bytes, ByteRegion& found) const {
  auto& access = *static_cast<CheckedAccess*>(file);
  NamedDataIterator walk(access);
  FlatVector name;
  uint32_t segment;
  while (walk.next(name, segment)) {
    if (name.count() != key_bytes || memcmp(name.item(0, 1), key, key_bytes) != 0) continue;
    return find_segment(access, segment, found);
  }
  return access.failed() ? Status::kCorrupt : Status::kMissingData;
}

kernels::Tensor DelegateArgs::tensor(uint32_t i) const {
  return tensor_of(model_of(*this), indices.index_at(i));
}

void* DelegateArgs::data(uint32_t i) const {
  const Model& model = model_of(*this);
  const uint32_t at = offset(i);
  if (at != kNotPlanned) return model.arena + at;
  const uint32_t value_index = indices.index_at(i);
  const FlatVector inputs = model.flatbuffer.inputs;
  for (uint32_t k = 0; k < inputs.count() && model.input_data != nullptr; ++k) {
    if (inputs.index_at(k) == value_index) return const_cast<void*>(model.input_data[k]);
  }
  return tensor(i).data;
}

uint32_t DelegateArgs::offset(uint32_t i) const {
  const Model& model = model_of(*this);
  const Position tensor = payload_of(model.flatbuffer.values.target(indices.index_at(i)));
  const Position at = field(tensor, pte::tensor::kAllocationInfo);
  if (at == nullptr) return kNotPlanned;
  const Position allocation = follow(at);
  const auto memory_id = read_field<uint32_t>(allocation, pte::allocation_details::kMemoryId);
  return memory_start(model.flatbuffer, memory_id) +
         read_field<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
}

Status measure_delegates(CheckedAccess& access, const Model& model,
                         const DelegateBackends& delegates, DelegateNeeds& needs) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  const FlatVector rows = access.verifier.vector(access.plan, pte::execution_plan::kDelegates, 2);
  needs.count = rows.count();
  needs.arena_bytes = flatbuffer.arena_bytes;
  const uint32_t persistent = persistent_bytes_max(delegates);
  if (persistent != 0) needs.persistent_bytes = needs.count * persistent + abi::kArenaAlignment;
  const bool planned = access.delegates.data != nullptr;
  if (planned && access.delegates.bytes != needs.count * sizeof(abi::DelegateRecord)) {
    return Status::kCorrupt;
  }
  for (uint32_t i = 0; i < needs.count; ++i) {
    DelegateSlot slot;
    uint32_t scratch_bytes = 0;
    Status status = open_row(access, delegates, i, slot, scratch_bytes);
    if (status == Status::kOk && !planned)
      status = add_unplanned_scratch(flatbuffer, scratch_bytes, needs);
    if (status != Status::kOk) return status;
  }
  if (access.failed()) return Status::kCorrupt;
  return planned ? Status::kOk : measure_calls(access, model, delegates, needs);
}

Status check_delegate_call(CheckedAccess& access, const Model& model,
                           const DelegateBackends& delegates, uint32_t at) {
  const Instruction instruction = instruction_at(model.flatbuffer, at);
  THIMBLE_RETURN_IF_ERROR(check_tensors(access, model, instruction.args));
  const uint32_t index = instruction.row;
  const bool loading = model.kernel_of_op != nullptr;
  const DelegateArgs args = {&model, instruction.args};
  DelegateSlot measured;
  // The address of a slot must not change after load: a delegate may give it to its driver.
  DelegateSlot& slot = loading ? slots_of(model)[index] : measured;
  uint32_t scratch_bytes = 0;
  THIMBLE_RETURN_IF_ERROR(open_row(access, delegates, index, slot, scratch_bytes));
  THIMBLE_RETURN_IF_ERROR(add_call_scratch(slot, args, scratch_bytes));
  DelegateMemory memory;
  THIMBLE_RETURN_IF_ERROR(find_memory(access, model, index, scratch_bytes, memory));
  if (memory.overlap != 0)
    THIMBLE_RETURN_IF_ERROR(check_overlap(access, model, at, slot, memory.overlap));
  const uint32_t persistent = persistent_bytes_max(delegates);
  if (loading && persistent != 0)
    memory.persistent = persistent_memory(access, model, index, persistent);
  return slot.backend->check(slot, memory, args);
}

}  // namespace thimble::runtime
