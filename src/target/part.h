#pragma once
// A part: a CPU, the engines beside it in the order in which they are asked, and memories. Data: a
// TOML file of targets/, or one that the user names. docs/adding-a-part.md has the format.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/recipe.h"
#include "target/target.h"

namespace thimble::target {

struct Part {
  std::string name;     // "corstone-300"
  std::string summary;  // one line
  const Target* cpu = nullptr;
  std::vector<EngineUse> engines;  // the first that can run an operator gets it
  std::vector<Memory> memories;    // sizes that the part has; 0 or absent = the user says
  Recipe recipe;
};

/// Names of all parts: the files of targets/, every core and every configuration of an engine.
[[nodiscard]] std::vector<std::string> part_names();

/// A core ("cortex-m4", with or without ExecuTorch's suffix `+int8`), an engine's configuration
/// ("ethos-u55-128", with a Cortex-M55 for what is left), a file of targets/ by its name, or the
/// path of a `.toml`. Unknown names are bad input with the known ones.
[[nodiscard]] Result<Part> find_part(std::string_view name);

/// One part from its text, with what it builds upon; `name` is what messages call it.
[[nodiscard]] Result<Part> parse_part(std::string_view text, std::string_view name);

}  // namespace thimble::target
