// SPDX-License-Identifier: Apache-2.0
#include "driver/missing_waits.h"

#include <algorithm>

#include "driver/code_waits.h"

namespace thimble::driver {
namespace {

/// A missing part of the time, and the fact that the part's file does not state. Memories with
/// equal entries share a sentence.
struct Lack {
  std::string what, fact;
  bool operator==(const Lack&) const = default;
};

/// `memory` does not satisfy waits_known().
Lack lack_of(const engine::PartMemory& memory) {
  if (memory.wait_states) {
    return {"no wait states of",
            memory.cache_bytes ? "the bytes of an access" : "the size of its cache"};
  }
  const bool has_words = memory.cycles_per_word > 1;
  return {has_words ? "the transfer of words, but no wait states of" : "no wait states of", "them"};
}

/// "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  return text;
}

/// The sentence about instructions in a memory that does not satisfy code_waits_known().
std::string code_note(const engine::Part& part, const engine::PartMemory& code) {
  const bool has_cache = code.wait_states && code.instruction_cache_bytes;
  if (has_cache && code.line_bytes == 0) {
    return fmt::format(
        "the wait states of instructions in {} are for accesses of 4 bytes: the documents of {} do "
        "not state the bytes of an access",
        code.name, part.name);
  }
  if (has_cache) {
    return fmt::format(
        "the time has no wait states of instructions in {}: the reads of a {} were not measured",
        code.name, part.cpu->name);
  }
  return fmt::format(
      "the time has no wait states of instructions in {}: the documents of {} do not state {}",
      code.name, part.name, code.wait_states ? "the size of its instruction cache" : "them");
}

}  // namespace

MissingWaits missing_waits(const engine::Part& part, const OperandMemories& memories) {
  MissingWaits missing;
  std::vector<std::pair<Lack, std::vector<std::string>>> lacks;
  const auto add = [&](const std::string& name, const Lack& lack) {
    missing.memories.push_back(name);
    const auto known = std::ranges::find(lacks, lack, [](const auto& each) { return each.first; });
    if (known == lacks.end()) {
      lacks.push_back({lack, {name}});
    } else {
      known->second.push_back(name);
    }
  };
  const engine::PartMemory absent;
  if (memories.constants == nullptr && memories.arguments.empty()) add("flash", lack_of(absent));
  if (memories.arena == nullptr) add("sram", lack_of(absent));
  for (const engine::PartMemory* const memory : memories.all()) {
    if (!waits_known(*memory)) add(memory->name, lack_of(*memory));
  }
  for (const auto& [lack, names] : lacks) {
    missing.notes.push_back(fmt::format("the time has {} {}: the documents of {} do not state {}",
                                        lack.what, listed(names), part.name, lack.fact));
  }
  const engine::PartMemory* const kernels = memories.kernel_code;
  if (kernels != nullptr && (!part.code_ram || kernels != &*part.code_ram)) {
    if (std::ranges::count(missing.memories, kernels->name) == 0) {
      missing.memories.push_back(kernels->name);
    }
    missing.notes.push_back(fmt::format(
        "the time has no wait states of instructions and data that use {} at the same time",
        kernels->name));
  }
  const engine::PartMemory* const code = memories.code;
  if (code_waits_known(code, *part.cpu) || std::ranges::count(missing.memories, code->name) != 0) {
    return missing;
  }
  missing.memories.push_back(code->name);
  missing.notes.push_back(code_note(part, *code));
  return missing;
}

std::string missing_waits_text(const std::vector<std::string>& memories) {
  if (memories.empty()) return "";
  return "wait states of " + listed(memories);
}

}  // namespace thimble::driver
