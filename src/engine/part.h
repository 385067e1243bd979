#pragma once
// A part: a CPU, the engines beside it in the order in which they are asked, and memories. Data: a
// TOML file of targets/, or one that the user names. docs/adding-a-part.md has the format.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/recipe.h"
#include "engine/engine.h"

namespace thimble::engine {

/// A memory as a part's file says it. Where the file says what a word costs, the compiler decides
/// what goes where (driver/placement.h).
struct PartMemory : Memory {
  bool kept = false;               // without power: flash, MRAM
  double cycles_per_word = 0;      // of the core, for 32 bits; 0: the file does not say
  std::vector<std::string> holds;  // of memory_contents()
};

/// What a memory may hold: "arena", "constants".
[[nodiscard]] std::span<const std::string_view> memory_contents();

struct Part {
  std::string name;     // "corstone-300"
  std::string summary;  // one line
  const Core* cpu = nullptr;
  std::vector<PartNpu> engines;    // the first that can run an operator gets it
  std::vector<PartMemory> memories;  // sizes that the part has; 0 or absent = the user says
  Recipe recipe;

  /// Whether the file says how fast its memories are: all of them, or none.
  [[nodiscard]] bool places() const { return !memories.empty() && memories[0].cycles_per_word > 0; }
};

/// Names of all parts: the files of targets/, every core and every configuration of an engine.
[[nodiscard]] std::vector<std::string> part_names();

/// A core ("cortex-m4", with or without ExecuTorch's suffix `+int8`), an engine's configuration
/// ("ethos-u55-128", with a Cortex-M55 for what is left), a file of targets/ by its name, or the
/// path of a `.toml`. Unknown names are bad input with the known ones.
[[nodiscard]] Result<Part> find_part(std::string_view name);

/// One part from its text, with what it builds upon; `name` is what messages call it.
[[nodiscard]] Result<Part> parse_part(std::string_view text, std::string_view name);

}  // namespace thimble::engine
