// SPDX-License-Identifier: Apache-2.0
#include "tools/linker_files.h"

#include <fmt/format.h>

namespace thimble::tools {

emit::LinkerFile linker_file_of(const driver::Compiled& compiled, const std::string& name) {
  emit::LinkerFile file;
  file.name = name;
  file.target = compiled.report.target;
  for (const engine::PartMemory& memory : compiled.part->memories) {
    file.memories.push_back(memory.name);
  }
  for (const driver::PlacedObject& object : compiled.report.placement->objects) {
    const bool is_arena = object.contents == engine::MemoryContents::kArena;
    // Memory without contents must not be in the image. Compilers place sections named .bss* so.
    file.arrays.push_back({fmt::format("{}.{}.{}", is_arena ? ".bss" : "", name, object.name),
                           object.memory, object.image, is_arena});
  }
  return file;
}

std::string linker_file_name(const std::string& name) {
  return name + "_sections.ld";
}

}  // namespace thimble::tools
