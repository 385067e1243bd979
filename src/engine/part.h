#pragma once
// A part: a CPU, an ordered list of NPUs, and memories. A part is data: a TOML file of targets/, or
// a file given by path. docs/adding-a-part.md describes the format.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/recipe.h"

namespace thimble::engine {

/// A memory as the part's file describes it. If the file gives the cost of an access, the compiler
/// decides which objects are placed in which memory (driver/object_placement.h).
struct PartMemory : Memory {
  bool kept = false;               // non-volatile: flash, MRAM
  double cycles_per_word = 0;      // core cycles per 32-bit access; 0: the file does not say
  std::vector<std::string> holds;  // subset of memory_contents()
};

/// Returns the kinds of content that a memory can hold: "arena", "constants".
[[nodiscard]] std::span<const std::string_view> memory_contents();

struct Part {
  std::string name;     // "corstone-300"
  std::string summary;  // one line
  const Core* cpu = nullptr;
  std::vector<PartNpu> engines;      // an operator runs on the first engine that supports it
  std::vector<PartMemory> memories;  // sizes of the part; 0 or absent: an option gives the size
  Recipe recipe;

  /// Returns true if the file gives the access cost of its memories (of all or of none).
  [[nodiscard]] bool has_memory_speeds() const {
    return !memories.empty() && memories[0].cycles_per_word > 0;
  }
};

/// Returns the names of all parts: files of targets/, cores, and engine configurations.
[[nodiscard]] std::vector<std::string> part_names();

/// Finds a part by name: a core ("cortex-m4", with or without ExecuTorch's suffix `+int8`), an
/// engine configuration (combined with the core that its family file names), or a file of targets/.
/// A name that ends in `.toml` is a path. An unknown name is an error that lists the known names.
[[nodiscard]] Result<Part> find_part(std::string_view name);

/// Parses a part from its text and merges its `base` files; messages refer to the text as `name`.
[[nodiscard]] Result<Part> parse_part(std::string_view text, std::string_view name);

}  // namespace thimble::engine
