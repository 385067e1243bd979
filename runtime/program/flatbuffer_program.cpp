// SPDX-License-Identifier: Apache-2.0
// Builds a FlatbufferProgram from a file. Tables are verified from the root down, each before its
// fields are read.

#include "runtime/program/flatbuffer_program.h"

#include "abi/kernel_layout.h"
#include "abi/limits.h"
#include "abi/named_data.h"
#include "runtime/exec/state.h"
#include "runtime/program/access.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;

// Field widths of the tables below in bytes, see TableKind.
constexpr char kProgramFields[] = "\4\4\4\4\4\4\4\4";
constexpr char kPlanFields[] = "\4\4\4\4\4\4\4\4\4\4";
constexpr char kChainFields[] = "\4\4\4\4";
constexpr char kSegmentFields[] = "\10\10";
constexpr char kSubsegmentFields[] = "\4\4";
constexpr char kOperatorFields[] = "\4\4";
constexpr char kInstructionFields[] = "\1\4";
constexpr char kKernelCallFields[] = "\4\4";

Status find_constants(CheckedAccess& access, FlatbufferProgram& flatbuffer) {
  Verifier& verifier = access.verifier;
  const Position program = access.program;
  TableKind kind(kSubsegmentFields);
  const Position in_segment = verifier.child(program, pte::program::kConstantSegment, kind);
  if (in_segment != nullptr) {
    flatbuffer.constants = verifier.vector(in_segment, pte::subsegment_offsets::kOffsets, 3);
    // Offset 0 is reserved. In a file without constants it is the only one, and the segment may be
    // missing.
    if (flatbuffer.constants.count() > 1) {
      const auto index = read_field<uint32_t>(in_segment, pte::subsegment_offsets::kSegmentIndex);
      ByteRegion found;
      THIMBLE_RETURN_IF_ERROR(find_segment(access, index, found));
      flatbuffer.constant_data = found.data;
      access.constant_bytes = found.bytes;
      return Status::kOk;
    }
  }
  flatbuffer.constants = verifier.vector(program, pte::program::kConstantBuffer, 2);
  return verifier.failed() ? Status::kCorrupt : Status::kOk;
}

Status check_entry(ByteRegion found, uint32_t arena_bytes) {
  abi::ProgramEntry entry;
  if (found.bytes < sizeof entry) return Status::kCorrupt;
  memcpy(&entry, found.data, sizeof entry);
  if (entry.magic != abi::kProgramEntryMagic) return Status::kCorrupt;
  const uint32_t version = entry.entry_version;
  if (version != abi::kEntryVersionHeaderOnly && version != abi::kEntryVersionRecords) {
    return Status::kLayoutVersion;
  }
  if (!abi::is_known_kernel_layout(entry.kernel_layout_version)) return Status::kLayoutVersion;
  return entry.arena_bytes == arena_bytes ? Status::kOk : Status::kCorrupt;
}

/// Finds and checks the entries kProgramEntryKey, kStateKey and kDelegatesKey of the named data.
/// Files of other compilers have none.
Status check_entries(CheckedAccess& access, FlatbufferProgram& flatbuffer) {
  NamedDataIterator walk(access);
  FlatVector key;
  uint32_t segment;
  while (walk.next(key, segment)) {
    constexpr uint32_t kEntryBytes = sizeof abi::kProgramEntryKey - 1;
    constexpr uint32_t kStateBytes = sizeof abi::kStateKey - 1;
    constexpr uint32_t kDelegatesBytes = sizeof abi::kDelegatesKey - 1;
    const uint32_t length = key.count();
    const char* const wanted = length == kEntryBytes       ? abi::kProgramEntryKey
                               : length == kStateBytes     ? abi::kStateKey
                               : length == kDelegatesBytes ? abi::kDelegatesKey
                                                           : nullptr;
    if (wanted == nullptr || memcmp(key.item(0, 1), wanted, length) != 0) continue;

    ByteRegion found;
    Status status = find_segment(access, segment, found);
    if (status == Status::kOk && length == kEntryBytes) {
      status = check_entry(found, flatbuffer.arena_bytes);
    } else if (status == Status::kOk && length == kStateBytes) {
      status = check_state(found, flatbuffer.arena_bytes);
      flatbuffer.state = found.data;
    } else {
      access.delegates = found;
    }
    if (status != Status::kOk) return status;
  }
  return access.failed() ? Status::kCorrupt : Status::kOk;
}

/// The plan "forward", or the first plan if there is no "forward".
Position find_plan(Verifier& verifier, Position program) {
  const FlatVector plans = verifier.vector(program, pte::program::kExecutionPlan, 2);
  TableKind kind(kPlanFields);
  Position first = nullptr;
  for (uint32_t i = 0; i < plans.count(); ++i) {
    const Position plan = verifier.table(plans.item(i, 4), kind);
    if (plan == nullptr) return nullptr;
    if (i == 0) first = plan;
    const FlatVector name = verifier.vector(plan, pte::execution_plan::kName, 0);
    if (name.count() == 7 && memcmp(name.item(0, 1), "forward", 7) == 0) return plan;
  }
  return first;
}

/// Adds the sizes of the planned memories, each aligned, as the size of the arena. Memory 0 is
/// reserved; native files have only memory 1.
Status find_arena_size(Verifier& verifier, Position plan, FlatbufferProgram& flatbuffer) {
  flatbuffer.memories = verifier.vector(plan, pte::execution_plan::kNonConstBufferSizes, 3);
  const uint32_t count = flatbuffer.memories.count();
  for (uint32_t id = 1; id < count; ++id) {
    const Position size = flatbuffer.memories.item(id, 8);
    const auto bytes = read<uint32_t>(size);
    flatbuffer.arena_bytes = align_to_arena(flatbuffer.arena_bytes) + bytes;
    // The aligned size is at most 2^31, so the sum does not wrap if `bytes` is valid.
    const bool fits = read<uint32_t>(size + 4) == 0 && bytes <= abi::kArenaBytesMax &&
                      flatbuffer.arena_bytes <= abi::kArenaBytesMax;
    if (!fits) return Status::kCorrupt;
  }
  return Status::kOk;
}

/// Verifies that kernel calls refer to rows of the operator table. decode_call() checks their
/// arguments. A delegate call's table has the same fields; delegates.cpp checks its row.
Status check_instruction_tables(CheckedAccess& access, const FlatbufferProgram& flatbuffer) {
  Verifier& verifier = access.verifier;
  const uint32_t operators = flatbuffer.operators.count();
  const uint32_t count = flatbuffer.instructions.count();
  TableKind instructions(kInstructionFields), calls(kKernelCallFields);
  for (uint32_t i = 0; i < count; ++i) {
    const CheckedTable instruction =
        verifier.table_at(flatbuffer.instructions.item(i, 4), instructions);
    if (instruction.at == nullptr) return Status::kCorrupt;
    const auto tag = read_field<uint8_t>(instruction, pte::instruction::kInstrArgsType);
    if (tag > pte::instruction_tag::kDelegateCall && tag <= pte::instruction_tag::kFreeCall) {
      return Status::kUnsupported;
    }
    const Position call_at = instruction.field(pte::instruction::kInstrArgs);
    const bool is_delegate = tag == pte::instruction_tag::kDelegateCall;
    if ((tag != pte::instruction_tag::kKernelCall && !is_delegate) || call_at == nullptr) {
      return Status::kCorrupt;
    }
    const CheckedTable call = verifier.table_at(call_at, calls);
    if (call.at == nullptr) return Status::kCorrupt;
    const auto op_index = read_field<uint32_t>(call, pte::kernel_call::kOpIndex);
    if (is_delegate) {
      access.has_delegate_calls = true;
    } else if (op_index >= operators) {
      return Status::kCorrupt;
    }
    verifier.vector_at(call.field(pte::kernel_call::kArgs), 2);
  }
  return verifier.failed() ? Status::kCorrupt : Status::kOk;
}

static_assert(pte::kernel_call::kOpIndex == pte::delegate_call::kDelegateIndex &&
              pte::kernel_call::kArgs == pte::delegate_call::kArgs);

Status check_plan(CheckedAccess& access, FlatbufferProgram& flatbuffer) {
  Verifier& verifier = access.verifier;
  const Position plan = access.plan;
  flatbuffer.values = verifier.vector(plan, pte::execution_plan::kValues, 2);
  flatbuffer.inputs = verifier.vector(plan, pte::execution_plan::kInputs, 2);
  flatbuffer.outputs = verifier.vector(plan, pte::execution_plan::kOutputs, 2);
  flatbuffer.operators = verifier.vector(plan, pte::execution_plan::kOperators, 2);
  const FlatVector chains = verifier.vector(plan, pte::execution_plan::kChains, 2);
  if (chains.count() > 1) return Status::kUnsupported;
  if (chains.count() == 1) {
    TableKind kind(kChainFields);
    const Position chain = verifier.table(chains.item(0, 4), kind);
    if (chain == nullptr) return Status::kCorrupt;
    flatbuffer.instructions = verifier.vector(chain, pte::chain::kInstructions, 2);
  }
  TableKind kind(kOperatorFields);
  for (uint32_t i = 0; i < flatbuffer.operators.count(); ++i) {
    const CheckedTable op = verifier.table_at(flatbuffer.operators.item(i, 4), kind);
    if (op.at == nullptr) return Status::kCorrupt;
    verifier.vector_at(op.field(pte::op::kName), 0);
    verifier.vector_at(op.field(pte::op::kOverload), 0);
  }
  return verifier.failed() ? Status::kCorrupt : check_instruction_tables(access, flatbuffer);
}

}  // namespace

Status find_segment(CheckedAccess& access, uint32_t index, ByteRegion& found) {
  Verifier& verifier = access.verifier;
  const FlatVector table = verifier.vector(access.program, pte::program::kSegments, 2);
  if (index >= table.count()) return Status::kCorrupt;
  TableKind kind(kSegmentFields);
  const Position segment = verifier.table(table.item(index, 4), kind);
  if (segment == nullptr) return Status::kCorrupt;
  const uint64_t offset = read_field<uint64_t>(segment, pte::data_segment::kOffset);
  const uint64_t bytes = read_field<uint64_t>(segment, pte::data_segment::kSize);
  const ByteRegion all = access.segments;
  if (offset > all.bytes || bytes > all.bytes - offset) return Status::kCorrupt;
  found = {all.data + offset, static_cast<uint32_t>(bytes)};
  return Status::kOk;
}

uint32_t memory_start(const FlatbufferProgram& flatbuffer, uint32_t memory_id) {
  uint32_t start = 0;
  while (--memory_id != 0)
    start += align_to_arena(read<uint32_t>(flatbuffer.memories.item(memory_id, 8)));
  return start;
}

Status open_program(const PteRegions& file, CheckedAccess& access, FlatbufferProgram& flatbuffer) {
  flatbuffer = {};
  access.segments = file.segments;
  Verifier& verifier = access.verifier;
  verifier = Verifier(file.program.data, file.program.bytes);
  TableKind kind(kProgramFields);
  const Position program = verifier.table(file.program.data, kind);
  if (program == nullptr) return Status::kCorrupt;
  if (read_field<uint32_t>(program, pte::program::kVersion) != 0) return Status::kUnsupported;
  access.program = program;
  THIMBLE_RETURN_IF_ERROR(find_constants(access, flatbuffer));

  const Position plan = find_plan(verifier, program);
  if (plan == nullptr) return Status::kCorrupt;
  access.plan = plan;
  THIMBLE_RETURN_IF_ERROR(find_arena_size(verifier, plan, flatbuffer));
  THIMBLE_RETURN_IF_ERROR(check_entries(access, flatbuffer));
  return check_plan(access, flatbuffer);
}

}  // namespace thimble::runtime
