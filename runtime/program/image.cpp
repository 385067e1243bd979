// Builds an Image from a file. Tables are verified from the root down, each before its fields are
// read.

#include "runtime/program/image.h"

#include "abi/limits.h"
#include "abi/native_params.h"
#include "runtime/exec/state.h"
#include "runtime/program/access.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;

// Limit so that the arena and the runtime's data of the largest file add up in 32 bits.
constexpr uint32_t kArenaBytesMax = 0x7FFFFFFF;

// Field widths of the tables below in bytes, see TableKind.
constexpr char kProgramFields[] = "\4\4\4\4\4\4\4\4";
constexpr char kPlanFields[] = "\4\4\4\4\4\4\4\4\4\4";
constexpr char kChainFields[] = "\4\4\4\4";
constexpr char kSegmentFields[] = "\10\10";
constexpr char kSubsegmentFields[] = "\4\4";
constexpr char kOperatorFields[] = "\4\4";
constexpr char kInstructionFields[] = "\1\4";
constexpr char kKernelCallFields[] = "\4\4";

Status find_constants(Checked& access, Image& image) {
  Verifier& verifier = access.verifier;
  const Position program = access.program;
  TableKind kind(kSubsegmentFields);
  const Position in_segment = verifier.child(program, pte::program::kConstantSegment, kind);
  if (in_segment != nullptr) {
    image.constants = verifier.vector(in_segment, pte::subsegment_offsets::kOffsets, 3);
    // Offset 0 is reserved. In a file without constants it is the only one, and the segment may be
    // missing.
    if (image.constants.count() > 1) {
      const auto index = scalar<uint32_t>(in_segment, pte::subsegment_offsets::kSegmentIndex);
      ByteRegion found;
      const Status status = find_segment(access, index, found);
      if (status != Status::kOk) return status;
      image.constant_data = found.data;
      access.constant_bytes = found.bytes;
      return Status::kOk;
    }
  }
  image.constants = verifier.vector(program, pte::program::kConstantBuffer, 2);
  return verifier.failed() ? Status::kCorrupt : Status::kOk;
}

Status check_entry(ByteRegion found, uint32_t arena_bytes) {
  abi::Entry entry;
  if (found.bytes < sizeof entry) return Status::kCorrupt;
  std::memcpy(&entry, found.data, sizeof entry);
  if (entry.magic != abi::kEntryMagic) return Status::kCorrupt;
  const uint32_t version = entry.entry_version;
  if (version != abi::kEntryVersion && version != abi::kEntryRecordsVersion) {
    return Status::kLayoutVersion;
  }
  const uint32_t layout = entry.kernel_layout_version;
  if (layout != 0 && layout != abi::kKernelLayoutVersion) return Status::kLayoutVersion;
  return entry.arena_bytes == arena_bytes ? Status::kOk : Status::kCorrupt;
}

/// Checks Thimble's entries of the named data. Files of other compilers have none.
Status check_entries(Checked& access, Image& image) {
  NamedDataIterator walk(access);
  Vector key;
  uint32_t segment;
  while (walk.next(key, segment)) {
    constexpr uint32_t kEntryBytes = sizeof abi::kEntryKey - 1;
    constexpr uint32_t kStateBytes = sizeof abi::kStateKey - 1;
    constexpr uint32_t kDelegatesBytes = sizeof abi::kDelegatesKey - 1;
    const uint32_t length = key.count();
    const char* const wanted = length == kEntryBytes       ? abi::kEntryKey
                               : length == kStateBytes     ? abi::kStateKey
                               : length == kDelegatesBytes ? abi::kDelegatesKey
                                                           : nullptr;
    if (wanted == nullptr || std::memcmp(key.item(0, 1), wanted, length) != 0) continue;

    ByteRegion found;
    Status status = find_segment(access, segment, found);
    if (status == Status::kOk && length == kEntryBytes) {
      status = check_entry(found, image.arena_bytes);
    } else if (status == Status::kOk && length == kStateBytes) {
      status = check_state(found, image.arena_bytes);
      image.state = found.data;
    } else {
      access.delegates = found;
    }
    if (status != Status::kOk) return status;
  }
  return access.failed() ? Status::kCorrupt : Status::kOk;
}

/// The plan "forward", or the first plan if there is no "forward".
Position find_plan(Verifier& verifier, Position program) {
  const Vector plans = verifier.vector(program, pte::program::kExecutionPlan, 2);
  TableKind kind(kPlanFields);
  Position first = nullptr;
  for (uint32_t i = 0; i < plans.count(); ++i) {
    const Position plan = verifier.table(plans.item(i, 4), kind);
    if (plan == nullptr) return nullptr;
    if (i == 0) first = plan;
    const Vector name = verifier.vector(plan, pte::execution_plan::kName, 0);
    if (name.count() == 7 && std::memcmp(name.item(0, 1), "forward", 7) == 0) return plan;
  }
  return first;
}

/// Memory id 0 is reserved. Native files have only memory 1.
Status find_arena_size(Verifier& verifier, Position plan, Image& image) {
  image.memories = verifier.vector(plan, pte::execution_plan::kNonConstBufferSizes, 3);
  const uint32_t count = image.memories.count();
  for (uint32_t id = 1; id < count; ++id) {
    const Position size = image.memories.item(id, 8);
    const auto bytes = load<uint32_t>(size);
    image.arena_bytes = aligned(image.arena_bytes) + bytes;
    // Each term is at most kArenaBytesMax, so the sum of two does not wrap.
    const bool fits = load<uint32_t>(size + 4) == 0 && bytes <= kArenaBytesMax &&
                      image.arena_bytes <= kArenaBytesMax;
    if (!fits) return Status::kCorrupt;
  }
  return Status::kOk;
}

/// Verifies that kernel calls refer to rows of the operator table. decode_call() checks their
/// arguments. A delegate call's table has the same fields; delegates.cpp checks its row.
Status verify_instructions(Checked& access, const Image& image) {
  Verifier& verifier = access.verifier;
  const uint32_t operators = image.operators.count();
  const uint32_t count = image.instructions.count();
  TableKind instructions(kInstructionFields), calls(kKernelCallFields);
  for (uint32_t i = 0; i < count; ++i) {
    const CheckedTable instruction = verifier.table_at(image.instructions.item(i, 4), instructions);
    if (instruction.at == nullptr) return Status::kCorrupt;
    const auto tag = number_in<uint8_t>(instruction, pte::instruction::kInstrArgsType);
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
    const auto op_index = number_in<uint32_t>(call, pte::kernel_call::kOpIndex);
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

Status verify_plan(Checked& access, Image& image) {
  Verifier& verifier = access.verifier;
  const Position plan = access.plan;
  image.values = verifier.vector(plan, pte::execution_plan::kValues, 2);
  image.inputs = verifier.vector(plan, pte::execution_plan::kInputs, 2);
  image.outputs = verifier.vector(plan, pte::execution_plan::kOutputs, 2);
  image.operators = verifier.vector(plan, pte::execution_plan::kOperators, 2);
  const Vector chains = verifier.vector(plan, pte::execution_plan::kChains, 2);
  if (chains.count() > 1) return Status::kUnsupported;
  if (chains.count() == 1) {
    TableKind kind(kChainFields);
    const Position chain = verifier.table(chains.item(0, 4), kind);
    if (chain == nullptr) return Status::kCorrupt;
    image.instructions = verifier.vector(chain, pte::chain::kInstructions, 2);
  }
  TableKind kind(kOperatorFields);
  for (uint32_t i = 0; i < image.operators.count(); ++i) {
    const CheckedTable op = verifier.table_at(image.operators.item(i, 4), kind);
    if (op.at == nullptr) return Status::kCorrupt;
    verifier.vector_at(op.field(pte::op::kName), 0);
    verifier.vector_at(op.field(pte::op::kOverload), 0);
  }
  return verifier.failed() ? Status::kCorrupt : verify_instructions(access, image);
}

}  // namespace

Status find_segment(Checked& access, uint32_t index, ByteRegion& found) {
  Verifier& verifier = access.verifier;
  const Vector table = verifier.vector(access.program, pte::program::kSegments, 2);
  if (index >= table.count()) return Status::kCorrupt;
  TableKind kind(kSegmentFields);
  const Position segment = verifier.table(table.item(index, 4), kind);
  if (segment == nullptr) return Status::kCorrupt;
  const uint64_t offset = scalar<uint64_t>(segment, pte::data_segment::kOffset);
  const uint64_t bytes = scalar<uint64_t>(segment, pte::data_segment::kSize);
  const ByteRegion all = access.segments;
  if (offset > all.bytes || bytes > all.bytes - offset) return Status::kCorrupt;
  found = {all.data + offset, static_cast<uint32_t>(bytes)};
  return Status::kOk;
}

uint32_t memory_start(const Image& image, uint32_t memory_id) {
  uint32_t start = 0;
  while (--memory_id != 0) start += aligned(load<uint32_t>(image.memories.item(memory_id, 8)));
  return start;
}

Status open_image(const File& file, Checked& access, Image& image) {
  image = {};
  access.segments = file.segments;
  Verifier& verifier = access.verifier;
  verifier = Verifier(file.program.data, file.program.bytes);
  TableKind kind(kProgramFields);
  const Position program = verifier.table(file.program.data, kind);
  if (program == nullptr) return Status::kCorrupt;
  if (scalar<uint32_t>(program, pte::program::kVersion) != 0) return Status::kUnsupported;
  access.program = program;
  Status status = find_constants(access, image);
  if (status != Status::kOk) return status;

  const Position plan = find_plan(verifier, program);
  if (plan == nullptr) return Status::kCorrupt;
  access.plan = plan;
  status = find_arena_size(verifier, plan, image);
  if (status != Status::kOk) return status;
  status = check_entries(access, image);
  if (status != Status::kOk) return status;
  return verify_plan(access, image);
}

}  // namespace thimble::runtime
