// SPDX-License-Identifier: Apache-2.0
#include "driver/object_placement.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/rounding.h"
#include "driver/does_not_fit.h"
#include "driver/report.h"
#include "emit/c/c_program.h"
#include "emit/state_entry.h"
#include "memory/accesses.h"
#include "memory/memory_assignment.h"

namespace thimble::driver {
namespace {

using Contents = engine::MemoryContents;

namespace pte = formats::pte;

constexpr int64_t kAlignment = 16;  // in bytes, for all placed objects
constexpr int64_t kThousandths = 1000;

/// Bytes that one inference accesses: in the arena, and per constant by its index in the program.
struct Totals {
  int64_t arena = 0;
  std::map<uint32_t, int64_t> constants;
  std::map<uint32_t, std::string> readers;  // the first call that reads the constant
};

class Counter {
 public:
  explicit Counter(const pte::ExecutionPlan& plan) : plan_(plan) {}

  Totals count(const engine::Lowered& lowered, const engine::Core& target) {
    for (size_t call = 0; call < lowered.calls.size(); ++call) {
      const auto* kernel_call = std::get_if<pte::KernelCall>(&plan_.chains[0].instructions[call]);
      if (kernel_call == nullptr) continue;
      reader_ = lowered.graph.value(lowered.calls[call].out).name;
      const memory::Accesses accesses = memory::accesses_of(lowered, lowered.calls[call], target);
      const std::vector<int32_t>& args = kernel_call->args;
      for (size_t i = 0; i < accesses.arguments.size() && i < args.size(); ++i) {
        add(args[i], accesses.arguments[i]);
      }
      // The result follows the arguments. Outputs of the model are in the arena too.
      if (args.size() > accesses.arguments.size()) {
        add(args[accesses.arguments.size()], accesses.out);
      }
    }
    return totals_;
  }

 private:
  void add(int32_t value, int64_t bytes) {
    const pte::EValue& item = plan_.values[static_cast<size_t>(value)];
    if (const auto* list = std::get_if<pte::TensorList>(&item)) {
      // Each tensor of a list is read once.
      for (const int32_t each : list->items) {
        const auto& tensor = std::get<pte::Tensor>(plan_.values[static_cast<size_t>(each)]);
        add_tensor(tensor, static_cast<int64_t>(pte::data_bytes(tensor).value_or(0)));
      }
    } else if (const auto* tensor = std::get_if<pte::Tensor>(&item)) {
      add_tensor(*tensor, bytes);
    }
  }
  void add_tensor(const pte::Tensor& tensor, int64_t bytes) {
    if (tensor.allocation) {
      totals_.arena += bytes;
    } else if (tensor.data_buffer_idx != 0) {
      totals_.constants[tensor.data_buffer_idx] += bytes;
      totals_.readers.try_emplace(tensor.data_buffer_idx, reader_);
    }
  }

  const pte::ExecutionPlan& plan_;
  std::string reader_;  // the current call
  Totals totals_;
};

/// Returns the objects of the C output or of the file, not yet placed.
std::vector<PlacedObject> objects_of(const pte::Program& program, const Totals& totals,
                                     bool c_output, const CompileReport& report) {
  std::vector<PlacedObject> objects;
  // The runtime stores its state after the arena. A run reads each word of it at most once.
  const int64_t state = c_output ? 0 : report.state_bytes;
  if (report.arena_bytes + state > 0) {
    objects.push_back({"arena", Contents::kArena, "", report.arena_bytes + state,
                       totals.arena + state, "", "", ""});
  }
  if (c_output) {
    const auto parts = emit::c::constant_parts(program.constants);
    const std::map<uint32_t, std::string> names = emit::c::constant_names(program.plans[0], parts);
    std::map<size_t, int64_t> accessed_in_parts;  // by index of the array
    for (const auto& [index, bytes] : totals.constants) {
      const auto part = parts.find(index);
      if (part != parts.end()) accessed_in_parts[part->second.whole] += bytes;
    }
    std::vector<std::pair<uint32_t, std::string>> arrays(names.begin(), names.end());
    std::ranges::sort(arrays, {}, [](const auto& array) {
      return std::pair(array.second.size(), array.second);  // sorts constant_2 before constant_10
    });
    for (const auto& [index, name] : arrays) {
      if (parts.contains(index)) continue;
      const auto accessed = totals.constants.find(index);
      const bool is_read = accessed != totals.constants.end();
      objects.push_back({name, Contents::kConstants, is_read ? totals.readers.at(index) : "",
                         static_cast<int64_t>(program.constants[index].size()),
                         (is_read ? accessed->second : 0) + accessed_in_parts[index], "", "", ""});
    }
    const Result<std::vector<emit::StateContent>> states = emit::read_states(program);
    assert(states.ok() && "the compiler wrote the program");
    for (size_t i = 0; i < states->size(); ++i) {
      const int64_t bytes = static_cast<int64_t>((*states)[i].content.size());
      if (bytes == 0) continue;
      objects.push_back(
          {fmt::format("state_{}", i), Contents::kConstants, "", bytes, 0, "", "", ""});
    }
    return objects;
  }
  int64_t accessed = 0;
  for (const auto& [index, bytes] : totals.constants) accessed += bytes;
  objects.push_back({"model", Contents::kConstants, "", report.pte_bytes, accessed, "", "", ""});
  return objects;
}

/// Returns why the object is not in the fastest memory that may hold it.
std::string reason_of(const PlacedObject& object, size_t chosen, const engine::Part& part,
                      const std::vector<int64_t>& room) {
  const engine::PartMemory& memory = part.memories[chosen];
  if (object.accessed_bytes == 0) return "no inference reads it";
  const engine::PartMemory* fastest = nullptr;
  size_t index = 0;
  for (size_t i = 0; i < part.memories.size(); ++i) {
    const engine::PartMemory& other = part.memories[i];
    if (!other.can_hold(object.contents) || other.cycles_per_word >= memory.cycles_per_word)
      continue;
    if (fastest != nullptr && other.cycles_per_word >= fastest->cycles_per_word) continue;
    fastest = &other;
    index = i;
  }
  if (fastest == nullptr) return "fastest memory that may hold it";
  if (room[index] >= round_up(object.bytes, kAlignment)) {
    return fmt::format("{} has enough space, but the flash for its load image does not",
                       fastest->name);
  }
  return fmt::format("{} has {} B left", fastest->name, with_commas(room[index]));
}

Error shortage_error(const memory::Shortage& shortage, const std::vector<PlacedObject>& objects,
                     const engine::Part& part) {
  const PlacedObject& object = objects[shortage.object];
  if (!shortage.memory) {
    return unsupported("{} of {} B: no memory of {} may hold {}", object.name,
                       with_commas(object.bytes), part.name,
                       engine::contents_name(object.contents));
  }
  const std::string of = object.of.empty() ? "" : fmt::format(" ({})", object.of);
  int64_t all_bytes = 0;
  for (const PlacedObject& each : objects) all_bytes += each.bytes;
  const std::string& memory = part.memories[*shortage.memory].name;
  const int64_t needed = round_up(object.bytes, kAlignment);
  return memory_refusal(
      fmt::format(
          "{}{} of {} B fits in no memory: {} has the most free space, {} B, which is {} B too "
          "few; the whole model needs {} B",
          object.name, of, with_commas(object.bytes), memory, with_commas(shortage.room_bytes),
          with_commas(needed - shortage.room_bytes), with_commas(all_bytes)),
      memory, needed, shortage.room_bytes);
}

std::vector<memory::Memory> memories_of(const engine::Part& part,
                                        const std::map<std::string, int64_t>& sizes) {
  std::vector<memory::Memory> memories;
  for (const engine::PartMemory& memory : part.memories) {
    memories.push_back(
        {sizes.at(memory.name), std::llround(memory.cycles_per_word * kThousandths), memory.kept});
  }
  return memories;
}

/// Takes the bytes of code, and of variables and stack, from the memories that a linker script
/// gives them: code is stored where the load images are, the stack is in the fastest RAM.
Status reserve(const CompileReport& report, bool c_output, const engine::Part& part,
               std::vector<memory::Memory>* memories, ObjectPlacement* placement) {
  const std::optional<LinkedSize>& linked =
      c_output && report.linked_c ? report.linked_c : report.linked;
  if (!linked) return ok();
  const auto take = [&](size_t index, int64_t bytes, std::string_view what) -> Status {
    memory::Memory& memory = (*memories)[index];
    if (bytes > memory.bytes) {
      const std::string& name = part.memories[index].name;
      return memory_refusal(
          fmt::format("{}: does not fit: {} needs {} B for {}, {} B allowed", report.model, name,
                      with_commas(bytes), what, with_commas(memory.bytes)),
          name, bytes, memory.bytes);
    }
    memory.bytes -= bytes;
    return ok();
  };
  if (const std::optional<size_t> image = memory::image_memory(*memories)) {
    placement->code_memory = part.memories[*image].name;
    placement->code_bytes = linked->flash_bytes();
    for (const PlacedObject& object : placement->objects) {
      if (object.contents != Contents::kConstants) continue;
      placement->code_bytes -= round_up(object.bytes, kAlignment);
    }
    placement->code_bytes = std::max<int64_t>(placement->code_bytes, linked->code_bytes);
    THIMBLE_CHECK(take(*image, placement->code_bytes, "code"));
  }
  std::optional<size_t> fastest;
  for (size_t i = 0; i < memories->size(); ++i) {
    if ((*memories)[i].non_volatile) continue;
    const auto cost = [&](size_t index) { return part.memories[index].cycles_per_word; };
    if (!fastest || cost(i) < cost(*fastest)) fastest = i;
  }
  if (!fastest) return ok();
  placement->stack_memory = part.memories[*fastest].name;
  placement->stack_bytes = linked->static_bytes + linked->stack_bytes;
  return take(*fastest, placement->stack_bytes, "variables and stack");
}

}  // namespace

Status place_objects(const engine::Lowered& lowered, const engine::Part& part,
                     const pte::Program& program, bool c_output,
                     const std::map<std::string, int64_t>& sizes, CompileReport* report) {
  Counter counter(program.plans[0]);
  const Totals totals = counter.count(lowered, *part.cpu);
  ObjectPlacement placement;
  placement.objects = objects_of(program, totals, c_output, *report);
  std::vector<memory::Memory> memories = memories_of(part, sizes);
  THIMBLE_CHECK(reserve(*report, c_output, part, &memories, &placement));
  std::vector<memory::Object> objects;
  for (const PlacedObject& object : placement.objects) {
    memory::Object to_place = {
        object.bytes, object.accessed_bytes, object.contents == Contents::kConstants, {}};
    for (const engine::PartMemory& memory : part.memories) {
      to_place.allowed.push_back(memory.can_hold(object.contents));
    }
    objects.push_back(std::move(to_place));
  }
  const memory::MemoryAssignment assignment =
      memory::assign_memories(objects, memories, kAlignment);
  if (assignment.shortage) return shortage_error(*assignment.shortage, placement.objects, part);
  placement.cycles = assignment.cost / kThousandths;
  placement.cycles_at_least = assignment.lower_bound / kThousandths;
  placement.proven = assignment.proven;
  std::vector<int64_t> room;
  for (const memory::Memory& memory : memories) room.push_back(memory.bytes);
  const std::optional<size_t> image = memory::image_memory(memories);
  for (size_t i = 0; i < objects.size(); ++i) {
    const size_t memory = assignment.memory_of_object[i];
    PlacedObject& object = placement.objects[i];
    object.memory = part.memories[memory].name;
    room[memory] -= round_up(object.bytes, kAlignment);
    if (!objects[i].constant || memories[memory].non_volatile) continue;
    object.image = part.memories[*image].name;
    room[*image] -= round_up(object.bytes, kAlignment);
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    placement.objects[i].reason =
        reason_of(placement.objects[i], assignment.memory_of_object[i], part, room);
  }
  for (size_t i = 0; i < memories.size(); ++i) {
    report->memories[i].bytes_used = sizes.at(part.memories[i].name) - room[i];
  }
  report->placement = std::move(placement);
  return ok();
}

}  // namespace thimble::driver
