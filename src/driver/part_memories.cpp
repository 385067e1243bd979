// SPDX-License-Identifier: Apache-2.0
#include "driver/part_memories.h"

#include <algorithm>

#include "base/nearest.h"
#include "driver/does_not_fit.h"
#include "driver/engines.h"
#include "driver/object_placement.h"

namespace thimble::driver {

namespace {

/// Adds the kernels' code to the RAM that it is copied to. Its load image is in the flash, as code.
void add_kernel_code(const engine::Part& part, CompileReport* report) {
  const engine::PartMemory* const memory = engine::kernel_code_memory(part);
  if (memory == nullptr) return;
  const std::optional<LinkedSize>& linked = report->linked_c ? report->linked_c : report->linked;
  report->kernel_code = KernelCode{memory->name, linked ? linked->kernel_bytes : 0, {}};
  const auto use = std::ranges::find(report->memories, memory->name, &MemoryUse::name);
  if (use == report->memories.end()) {
    report->memories.push_back({memory->name, report->kernel_code->bytes, memory->bytes});
  } else {
    use->bytes_used += report->kernel_code->bytes;
  }
}

}  // namespace

std::map<std::string, int64_t> memory_sizes(const CompileOptions& options,
                                            const engine::Part& part) {
  std::map<std::string, int64_t> sizes = options.memory;
  for (const engine::PartMemory& memory : part.memories) {
    if (memory.bytes > 0) sizes.try_emplace(memory.name, memory.bytes);
  }
  return sizes;
}

std::optional<int64_t> ram_limit(const engine::Part& part,
                                 const std::map<std::string, int64_t>& sizes) {
  if (!part.has_memory_speeds()) {
    const auto sram = sizes.find("sram");
    return sram == sizes.end() ? std::optional<int64_t>() : sram->second;
  }
  std::optional<int64_t> limit;
  for (const engine::PartMemory& memory : part.memories) {
    if (!memory.can_hold(engine::MemoryContents::kArena)) continue;
    limit = std::max(limit.value_or(0), sizes.at(memory.name));
  }
  return limit;
}

bool ram_limit_is_stated(const engine::Part& part, const CompileOptions& options) {
  if (!part.has_memory_speeds()) return options.memory.contains("sram");
  return std::ranges::any_of(part.memories, [&](const engine::PartMemory& memory) {
    return memory.can_hold(engine::MemoryContents::kArena) && options.memory.contains(memory.name);
  });
}

void list_memories(const engine::Part& part, const engine::Lowered& lowered,
                   CompileReport* report) {
  report->memories.clear();
  const std::vector<engine::Delegate>& delegates = lowered.delegates;
  report->sram_constant_bytes = constant_bytes(delegates, abi::MemoryMode::kSramOnly);
  report->dram_constant_bytes = constant_bytes(delegates, abi::MemoryMode::kDedicatedSram);
  report->dedicated_sram = uses_dedicated_sram(lowered);
  if (part.has_memory_speeds()) {
    for (const engine::PartMemory& memory : part.memories) {
      report->memories.push_back({memory.name, 0, 0});
    }
    add_kernel_code(part, report);
    return;
  }
  int64_t sram = report->sram_constant_bytes, dram = report->dram_constant_bytes;
  // With the memory mode Dedicated_Sram, the SRAM is the NPU's fast scratch, and arena, variables
  // and stack are in the DRAM.
  (report->dedicated_sram ? dram : sram) += ram_bytes(*report);
  int64_t fast_scratch = 0;  // delegates run one after the other and share it
  for (const engine::Delegate& delegate : delegates) {
    if (delegate.memory_mode != abi::MemoryMode::kDedicatedSram) continue;
    fast_scratch = std::max(fast_scratch, delegate.fast_scratch_bytes);
  }
  report->memories.push_back({"sram", sram + fast_scratch, 0});
  const bool has_dram =
      std::ranges::find(part.memories, "dram", &engine::PartMemory::name) != part.memories.end();
  if (report->dedicated_sram || has_dram) report->memories.push_back({"dram", dram, 0});
  report->memories.push_back({"flash", flash_bytes(*report), 0});
  add_kernel_code(part, report);
}

int64_t sram_bytes_of(const CompileReport& report) {
  return std::ranges::find(report.memories, "sram", &MemoryUse::name)->bytes_used;
}

Status set_memory_sizes(const std::map<std::string, int64_t>& sizes, CompileReport* report) {
  for (const auto& [name, bytes] : sizes) {
    const auto memory = std::ranges::find(report->memories, name, &MemoryUse::name);
    if (memory == report->memories.end()) {
      std::vector<std::string> names;
      for (const MemoryUse& known : report->memories) names.push_back(known.name);
      return bad_input("--memory {}: target {} has the memories {}{}", name, report->target,
                       fmt::join(names, " and "), suggestions(name, names));
    }
    memory->bytes_size = bytes;
  }
  return ok();
}

Status place_in_memories(const Compiled& compiled, const formats::pte::Program& program,
                         const CompileOptions& options, const std::map<std::string, int64_t>& sizes,
                         CompileReport* report) {
  report->shortage.clear();
  report->shortage_facts.reset();
  if (!compiled.part->has_memory_speeds() || first_overflow(*report) != nullptr) return ok();
  Status placed =
      place_objects(compiled.lowered, *compiled.part, program, options.c_output, sizes, report);
  if (placed || placed.error().kind != ErrorKind::kUnsupported) return placed;
  report->shortage = placed.error().message;
  report->shortage_facts = placed.error().facts;
  return ok();
}

}  // namespace thimble::driver
