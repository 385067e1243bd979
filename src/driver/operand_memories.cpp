// SPDX-License-Identifier: Apache-2.0
#include "driver/operand_memories.h"

#include <algorithm>
#include <map>

#include "base/rounding.h"
#include "emit/c/c_program.h"
#include "memory/accesses.h"

namespace thimble::driver {
namespace {

namespace pte = formats::pte;
using engine::PartMemory;

const PartMemory* first_memory(const engine::Part& part, bool kept) {
  const auto found = std::ranges::find(part.memories, kept, &PartMemory::kept);
  return found == part.memories.end() ? nullptr : &*found;
}

const PartMemory* memory_named(const engine::Part& part, const std::string& name) {
  const auto found = std::ranges::find(part.memories, name, &PartMemory::name);
  return found == part.memories.end() ? nullptr : &*found;
}

/// Fills the memories of single constants, which are arrays of the C output.
void place_arguments(const engine::Part& part, const ObjectPlacement& placement,
                     const pte::Program& program, OperandMemories* memories) {
  const pte::ExecutionPlan& plan = program.plans[0];
  const std::map<uint32_t, std::string> names =
      emit::c::constant_names(plan, emit::c::constant_parts(program.constants));
  for (const pte::Instruction& instruction : plan.chains[0].instructions) {
    std::vector<const PartMemory*>& row = memories->arguments.emplace_back();
    const auto* const call = std::get_if<pte::KernelCall>(&instruction);
    if (call == nullptr) continue;
    for (const int32_t value : call->args) {
      const auto* const tensor = std::get_if<pte::Tensor>(&plan.values[static_cast<size_t>(value)]);
      const auto name = tensor == nullptr ? names.end() : names.find(tensor->data_buffer_idx);
      const bool placed = tensor != nullptr && !tensor->allocation && name != names.end();
      const auto object =
          placed ? std::ranges::find(placement.objects, name->second, &PlacedObject::name)
                 : placement.objects.end();
      row.push_back(object == placement.objects.end() ? nullptr
                                                      : memory_named(part, object->memory));
    }
  }
}

/// Operands in one memory: their size, and the bytes that a call accesses.
struct Operands {
  int64_t bytes = 0, accessed = 0;
};

/// The constants of a call by their memory.
std::map<const PartMemory*, Operands> constants_of(const engine::Lowered& lowered,
                                                   const engine::KernelCall& call,
                                                   size_t instruction, const engine::Core& core,
                                                   const OperandMemories& memories) {
  const memory::Accesses accesses = memory::accesses_of(lowered, call, core);
  std::map<const PartMemory*, Operands> constants;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const auto* const constant = std::get_if<engine::Constant>(&call.arguments[i]);
    if (constant == nullptr) continue;
    const PartMemory* memory = memories.constants;
    if (instruction < memories.arguments.size() && i < memories.arguments[instruction].size()) {
      memory = memories.arguments[instruction][i];
    }
    Operands& operands = constants[memory];
    operands.bytes += static_cast<int64_t>(constant->bytes->size());
    operands.accessed += accesses.arguments[i];
  }
  return constants;
}

/// The values that a call reads from the arena and writes to it, without scratch: a file does not
/// state which argument is which value.
Operands values_of(const engine::Lowered& lowered, const engine::KernelCall& call,
                   const engine::Core& core) {
  const ir::Graph& graph = lowered.graph;
  engine::KernelCall values = call;
  values.arguments.clear();
  for (const ir::ValueId input : graph.ops()[static_cast<size_t>(call.ir_op)].inputs) {
    if (input == ir::kNoValue || graph.value(input).constant) continue;
    values.arguments.emplace_back(engine::ValueRef{input});
  }
  const memory::Accesses accesses = memory::accesses_of(lowered, values, core);
  Operands operands{0, accesses.out};
  for (const int64_t bytes : accesses.arguments) operands.accessed += bytes;
  operands.bytes = static_cast<int64_t>(graph.type(call.out).bytes());
  for (const engine::Argument& argument : values.arguments) {
    operands.bytes +=
        static_cast<int64_t>(graph.type(std::get<engine::ValueRef>(argument).id).bytes());
  }
  return operands;
}

}  // namespace

std::vector<const PartMemory*> OperandMemories::all() const {
  std::vector<const PartMemory*> memories;
  const auto add = [&](const PartMemory* memory) {
    const bool known = std::ranges::find(memories, memory) != memories.end();
    if (memory != nullptr && !known) memories.push_back(memory);
  };
  if (arguments.empty()) add(constants);
  for (const auto& row : arguments) std::ranges::for_each(row, add);
  add(arena);
  return memories;
}

OperandMemories operand_memories(const engine::Part& part,
                                 const std::optional<ObjectPlacement>& placement,
                                 const pte::Program* program) {
  OperandMemories memories{first_memory(part, false),
                           first_memory(part, true),
                           first_memory(part, true),
                           engine::kernel_code_memory(part),
                           {}};
  if (!placement) return memories;
  bool whole_file = false;
  for (const PlacedObject& object : placement->objects) {
    const PartMemory* const memory = memory_named(part, object.memory);
    if (object.contents == engine::MemoryContents::kArena) memories.arena = memory;
    if (object.name != "model") continue;
    memories.constants = memory;
    whole_file = true;
  }
  if (!placement->code_memory.empty()) memories.code = memory_named(part, placement->code_memory);
  if (!whole_file) place_arguments(part, *placement, *program, &memories);
  return memories;
}

bool waits_known(const PartMemory& memory) {
  if (!memory.wait_states) return false;
  if (*memory.wait_states == 0) return true;
  return memory.cache_bytes && (*memory.cache_bytes == 0 || memory.line_bytes > 0);
}

double wait_cycles(const PartMemory& memory, const engine::Core& core, int64_t bytes,
                   int64_t accessed) {
  constexpr int64_t kWord = 4;
  const bool fits_cache = memory.cache_bytes && bytes <= *memory.cache_bytes;
  // Operands that fit into the cache are read from the memory once.
  const int64_t read = fits_cache ? std::min(bytes, accessed) : accessed;
  if (!memory.wait_states && memory.cycles_per_word > 1) {
    return (memory.cycles_per_word - 1) * static_cast<double>(divide_up(read, kWord));
  }
  const double waits = memory.wait_states.value_or(0);
  if (!waits_known(memory) || waits == 0) return 0;
  if (*memory.cache_bytes == 0) {
    // Each load waits. Kernels for Armv6-M load constants by the byte, others by the word.
    const int64_t load = core.isa == abi::Isa::kThumb1 ? 1 : kWord;
    return waits * static_cast<double>(divide_up(accessed, load));
  }
  return waits * static_cast<double>(divide_up(read, memory.line_bytes));
}

double wait_cycles(const engine::Lowered& lowered, const engine::KernelCall& call,
                   size_t instruction, const engine::Core& core, const OperandMemories& memories) {
  double cycles = 0;
  for (const auto& [memory, operands] : constants_of(lowered, call, instruction, core, memories)) {
    if (memory != nullptr) cycles += wait_cycles(*memory, core, operands.bytes, operands.accessed);
  }
  if (memories.arena == nullptr) return cycles;
  const Operands values = values_of(lowered, call, core);
  return cycles + wait_cycles(*memories.arena, core, values.bytes, values.accessed);
}

}  // namespace thimble::driver
