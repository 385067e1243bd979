// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the placement of a model's arrays as a part of a linker script (GNU ld). Output sections
// list the model's input sections one by one, so that each is placed in the memory chosen for it.
// Symbols give the ranges that must be copied at the start. docs/memory.md describes its use.

#include <string>
#include <string_view>
#include <vector>

namespace thimble::emit {

struct PlacedArray {
  std::string section;  // ".kws.constant_0"
  std::string memory;   // memory region of the script: "dtcm"
  std::string
      load_memory;        // region from which it is loaded; empty if it is read where it is stored
  bool is_arena = false;  // has no initial content
};

struct LinkerFile {
  std::string name;    // name of the model, an identifier
  std::string target;  // "imxrt1062"
  std::vector<PlacedArray> arrays;
  std::vector<std::string> memories;  // of the part, in the part's order
};

[[nodiscard]] std::string linker_file(const LinkerFile& file);

/// Memories to which arrays are loaded, in the part's order. The symbols of each are
/// NAME_MEMORY_start, NAME_MEMORY_end and NAME_MEMORY_image.
[[nodiscard]] std::vector<std::string> loaded_memories(const LinkerFile& file);

}  // namespace thimble::emit
