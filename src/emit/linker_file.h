#pragma once
// Where a model's objects lie, as a piece of a linker script (GNU ld): output sections that name
// the model's input sections one by one, so that each lands in the memory decided for it, and
// symbols for what has to be copied at the start. docs/memory.md says how it is used.

#include <string>
#include <string_view>
#include <vector>

namespace thimble::emit {

struct LinkedObject {
  std::string section;   // ".kws.constant_0"
  std::string memory;    // region of the script: "dtcm"
  std::string image;     // region that it is loaded from; empty: it is read where it is kept
  bool written = false;  // nothing to load: the arena
};

struct LinkerFile {
  std::string name;    // of the model, an identifier
  std::string target;  // "imxrt1062"
  std::vector<LinkedObject> objects;
  std::vector<std::string> memories;  // of the part, in its order
};

[[nodiscard]] std::string linker_file(const LinkerFile& file);

/// Memories to which something is loaded, in the part's order: NAME_MEMORY_start, _end and _image
/// are symbols.
[[nodiscard]] std::vector<std::string> loaded_memories(const LinkerFile& file);

}  // namespace thimble::emit
