// SPDX-License-Identifier: Apache-2.0
// ThimbleAxonProgram. The command words are in the file. When the model is loaded, they are copied
// to permanent memory (the delegate's fast memory in the plan) and bound to addresses. After that,
// a run costs only the driver's work. Interlayer memory, partial sums and variables are in the
// scratch of the call.

#include "engines/axon/container/program.h"
#include "abi/freestanding.h"
#include "engines/axon/delegate_vendor/backend.h"
#include "engines/axon/delegate_vendor/job.h"

namespace thimble::runtime::axon_vendor::program {
namespace {

namespace format = abi::axon;
using format::ProgramHeader;
using format::ProgramIo;
using format::ProgramStatus;
using format::ProgramView;
using format::Space;

/// Data of a delegate slot.
struct SlotData {
  const uint8_t* program;
  uint8_t* scratch;
  const Word* words;
  thimble_axon_counter* counter;
};

uint32_t scratch_of(const ProgramHeader& header) {
  return header.interlayer_bytes + header.partial_sum_bytes + header.variable_bytes;
}

/// Returns the start of a memory. The scratch holds interlayer memory, partial sums and variables.
const uint8_t* base_of(const ProgramView& view, uint8_t* scratch, Space space) {
  const ProgramHeader& header = view.header();
  switch (space) {
    case Space::kInterlayer:
      return scratch;
    case Space::kPartialSums:
      return scratch + header.interlayer_bytes;
    case Space::kVariables:
      return scratch + header.interlayer_bytes + header.partial_sum_bytes;
    default:
      return view.constants();
  }
}

thimble_axon_tensor operand_of(const ProgramView& view, uint8_t* scratch, uint32_t index) {
  const ProgramIo io = view.io(index);
  // check_program() has verified that tensors are in memories of the scratch.
  auto* const base = const_cast<uint8_t*>(base_of(view, scratch, io.space));
  return {base + io.offset, io.row_stride, io.n, io.c, io.h, io.w, io.element_bytes};
}

bool same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

const void* find_symbol(const thimble_axon_silicon& chip, const char* name) {
  const bool own = chip.symbols != nullptr;
  const thimble_axon_symbol* symbol = own ? chip.symbols : thimble_axon_symbols;
  const thimble_axon_symbol* const end =
      symbol + (own ? chip.symbol_count : thimble_axon_symbol_count);
  while (symbol != end && !same(symbol->name, name)) ++symbol;
  return symbol == end ? nullptr : symbol->address;
}

const char* next_name(const char* name) {
  while (*name != 0) ++name;
  return name + 1;
}

const void* symbol_of(const thimble_axon_silicon& chip, const ProgramView& view, uint32_t index) {
  const char* name = view.symbols();
  for (uint32_t i = 0; i < index; ++i) name = next_name(name);
  return find_symbol(chip, name);
}

void bind(const thimble_axon_silicon& chip, const ProgramView& view, uint8_t* scratch,
          Word* words) {
  const uint32_t count = view.header().word_count;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t word = view.word(i);
    if (!view.is_address(i)) {
      words[i] = word;
      continue;
    }
    const uint32_t space = word >> format::kSpaceShift;
    constexpr auto kFirst = static_cast<uint32_t>(Space::kSymbols);
    const void* const address =
        space >= kFirst
            ? symbol_of(chip, view, space - kFirst)
            : base_of(view, scratch, static_cast<Space>(space)) + (word & format::kOffsetMask);
    words[i] = reinterpret_cast<Word>(address);
  }
}

Status status_of(ProgramStatus status) {
  switch (status) {
    case ProgramStatus::kOk:
      return Status::kOk;
    case ProgramStatus::kVersion:
      return Status::kUnsupported;
    default:
      return Status::kBadPayload;
  }
}

/// Returns true if the tensor does not overlap the memory that the run writes.
bool is_apart(const ProgramHeader& header, const DelegateMemory& memory, const DelegateArgs& args,
              uint32_t index) {
  const uint32_t offset = args.offset(index);
  if (offset == kNotPlanned) return true;
  const uint32_t end = offset + args.tensor(index).bytes;
  const uint32_t scratch_end = memory.scratch_offset + scratch_of(header);
  const uint32_t kept_end = memory.fast_offset + memory.fast_bytes;
  return (end <= memory.scratch_offset || scratch_end <= offset) &&
         (end <= memory.fast_offset || kept_end <= offset);
}

}  // namespace

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes) {
  const auto* const chip = static_cast<const thimble_axon_silicon*>(self.device);
  if (chip == nullptr) return Status::kMissingDelegate;
  const ByteRegion& payload = source.payload;
  const ProgramStatus status = format::check_program(payload.data, payload.bytes);
  if (status != ProgramStatus::kOk) return status_of(status);
  const ProgramView view(payload.data);
  const ProgramHeader& header = view.header();
  if (chip->driver_version != 0 && chip->driver_version < header.driver_version) {
    return Status::kDriverVersion;
  }
  const char* name = view.symbols();
  for (uint32_t i = 0; i < header.symbol_count; ++i, name = next_name(name)) {
    if (find_symbol(*chip, name) == nullptr) return Status::kMissingSymbol;
  }
  SlotData& work = *new (abi::Place{slot.data}) SlotData{};
  work.program = payload.data;
  scratch_bytes = scratch_of(header);
  return Status::kOk;
}

Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args) {
  SlotData& work = slot_data<SlotData>(slot);
  const ProgramView view(work.program);
  const ProgramHeader& header = view.header();
  if (args.count() != view.io_count()) return Status::kBadPayload;
  for (uint32_t i = 0; i < args.count(); ++i) {
    THIMBLE_RETURN_IF_ERROR(
        check_tensor(operand_of(view, nullptr, i), args, i, i >= header.input_count));
    if (!is_apart(header, memory, args, i)) return Status::kCorrupt;
  }
  const bool room = memory.fast_planned && memory.fast_bytes / sizeof(Word) >= header.word_count;
  const bool apart = memory.fast_offset + memory.fast_bytes <= memory.scratch_offset ||
                     memory.scratch_offset + scratch_of(header) <= memory.fast_offset;
  if (!room) return Status::kProgramMemory;
  if (!apart) return Status::kCorrupt;
  if (memory.scratch == nullptr || memory.fast == nullptr) return Status::kOk;
  const thimble_axon_silicon& chip = chip_of(slot);
  auto* const words = reinterpret_cast<Word*>(memory.fast);
  bind(chip, view, memory.scratch, words);
  work.scratch = memory.scratch;
  work.words = words;
  return take_row(chip, view.name(), work.counter);
}

Status run(const DelegateSlot& slot, const DelegateArgs& args) {
  const SlotData& work = slot_data<SlotData>(slot);
  const ProgramView view(work.program);
  const Job job = {work.words, view.header().word_count, view.header().cycles, work.counter};
  return run_job(chip_of(slot), job, args, view.header().input_count,
                 [&](uint32_t index) { return operand_of(view, work.scratch, index); });
}

}  // namespace thimble::runtime::axon_vendor::program
