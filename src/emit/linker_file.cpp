#include "emit/linker_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace thimble::emit {
namespace {

template <typename Wanted>
std::string input_sections(const LinkerFile& file, Wanted wanted) {
  std::string text;
  for (const LinkedObject& object : file.objects) {
    if (wanted(object)) text += fmt::format("  *({})\n", object.section);
  }
  return text;
}

/// Output section of constants that are read in the memory that stores them.
std::string kept(const LinkerFile& file, const std::string& memory) {
  const std::string inputs = input_sections(file, [&](const LinkedObject& object) {
    return object.memory == memory && !object.written && object.image.empty();
  });
  if (inputs.empty()) return "";
  return fmt::format(".{0}.{1} : ALIGN(16) {{\n{2}}} > {1}\n", file.name, memory, inputs);
}

/// Output section of constants that are stored in another memory and copied to `memory`.
std::string loaded(const LinkerFile& file, const std::string& memory) {
  std::string image;
  const std::string inputs = input_sections(file, [&](const LinkedObject& object) {
    const bool here = object.memory == memory && !object.image.empty();
    if (here) image = object.image;
    return here;
  });
  if (inputs.empty()) return "";
  return fmt::format(
      ".{0}.{1} : ALIGN(16) {{\n"
      "  {0}_{1}_start = .;\n"
      "{2}"
      "  {0}_{1}_end = .;\n"
      "}} > {1} AT > {3}\n"
      "{0}_{1}_image = LOADADDR(.{0}.{1});\n",
      file.name, memory, inputs, image);
}

std::string written(const LinkerFile& file, const std::string& memory) {
  const std::string inputs = input_sections(
      file, [&](const LinkedObject& object) { return object.memory == memory && object.written; });
  if (inputs.empty()) return "";
  return fmt::format(".{0}.{1}.memory (NOLOAD) : ALIGN(16) {{\n{2}}} > {1}\n", file.name, memory,
                     inputs);
}

}  // namespace

std::vector<std::string> loaded_memories(const LinkerFile& file) {
  std::vector<std::string> memories;
  for (const std::string& memory : file.memories) {
    const bool any = std::ranges::any_of(file.objects, [&](const LinkedObject& object) {
      return object.memory == memory && !object.image.empty();
    });
    if (any) memories.push_back(memory);
  }
  return memories;
}

std::string linker_file(const LinkerFile& file) {
  std::string sections, used;
  for (const std::string& memory : file.memories) {
    const std::string here = kept(file, memory) + loaded(file, memory) + written(file, memory);
    const bool is_image =
        std::ranges::find(file.objects, memory, &LinkedObject::image) != file.objects.end();
    if (!here.empty() || is_image) used += (used.empty() ? "" : ", ") + memory;
    sections += here;
  }
  return fmt::format(
      "/* Written by `thimble compile` for {0} on {1}: memory placement of its arrays. Add\n"
      " * this line to SECTIONS, before the lines for .rodata and .bss:\n"
      " *\n"
      " *   INCLUDE {0}_sections.ld\n"
      " *\n"
      " * Its memories ({2}) must be regions of the script's MEMORY. If they have other names:\n"
      " * REGION_ALIAS(\"{3}\", NAME). The bytes from _start to _end are copied from\n"
      " * _image before the model runs. */\n"
      "{4}",
      file.name, file.target, used, used.substr(0, used.find(',')), sections);
}

}  // namespace thimble::emit
