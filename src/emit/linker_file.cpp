// SPDX-License-Identifier: Apache-2.0
#include "emit/linker_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace thimble::emit {
namespace {

template <typename Wanted>
std::string input_sections(const LinkerFile& file, Wanted wanted) {
  std::string text;
  for (const PlacedArray& array : file.arrays) {
    if (wanted(array)) text += fmt::format("  *({})\n", array.section);
  }
  return text;
}

/// Output section of constants that are read in the memory that stores them.
std::string read_in_place(const LinkerFile& file, const std::string& memory) {
  const std::string inputs = input_sections(file, [&](const PlacedArray& array) {
    return array.memory == memory && !array.is_arena && array.load_memory.empty();
  });
  if (inputs.empty()) return "";
  return fmt::format(".{0}.{1} : ALIGN(16) {{\n{2}}} > {1}\n", file.name, memory, inputs);
}

/// Returns the first memory from which arrays of `memory` are loaded; empty if none is.
std::string load_memory_of(const LinkerFile& file, const std::string& memory) {
  for (const PlacedArray& array : file.arrays) {
    if (array.memory == memory && !array.load_memory.empty()) return array.load_memory;
  }
  return "";
}

/// Output section of constants that are stored in another memory and copied to `memory`.
std::string loaded(const LinkerFile& file, const std::string& memory) {
  const std::string inputs = input_sections(file, [&](const PlacedArray& array) {
    return array.memory == memory && !array.load_memory.empty();
  });
  if (inputs.empty()) return "";
  return fmt::format(
      ".{0}.{1} : ALIGN(16) {{\n"
      "  {0}_{1}_start = .;\n"
      "{2}"
      "  {0}_{1}_end = .;\n"
      "}} > {1} AT > {3}\n"
      "{0}_{1}_image = LOADADDR(.{0}.{1});\n",
      file.name, memory, inputs, load_memory_of(file, memory));
}

std::string arena(const LinkerFile& file, const std::string& memory) {
  const std::string inputs = input_sections(
      file, [&](const PlacedArray& array) { return array.memory == memory && array.is_arena; });
  if (inputs.empty()) return "";
  return fmt::format(".{0}.{1}.memory (NOLOAD) : ALIGN(16) {{\n{2}}} > {1}\n", file.name, memory,
                     inputs);
}

}  // namespace

std::vector<std::string> loaded_memories(const LinkerFile& file) {
  std::vector<std::string> memories;
  for (const std::string& memory : file.memories) {
    if (!load_memory_of(file, memory).empty()) memories.push_back(memory);
  }
  return memories;
}

std::string linker_file(const LinkerFile& file) {
  std::string sections, used;
  for (const std::string& memory : file.memories) {
    const std::string here =
        read_in_place(file, memory) + loaded(file, memory) + arena(file, memory);
    const bool is_load_memory =
        std::ranges::find(file.arrays, memory, &PlacedArray::load_memory) != file.arrays.end();
    if (!here.empty() || is_load_memory) used += (used.empty() ? "" : ", ") + memory;
    sections += here;
  }
  return fmt::format(
      "/* Written by `thimble compile` for {0} on {1}: memory of each array. Include it in "
      "SECTIONS before\n"
      " * the output sections of .rodata and .bss:\n"
      " *\n"
      " *   INCLUDE {0}_sections.ld\n"
      " *\n"
      " * Its memories ({2}) must be regions of the script's MEMORY. If they have other names:\n"
      " * REGION_ALIAS(\"{3}\", NAME). The bytes from _start to _end are copied from _image "
      "before\n"
      " * the model runs. */\n"
      "{4}",
      file.name, file.target, used, used.substr(0, used.find(',')), sections);
}

}  // namespace thimble::emit
