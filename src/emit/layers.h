#pragma once
// The `named_data` entry "thimble_layers", written on request (`compile --names`): which value each
// kernel call of the program makes, and what its codes mean. For tools on the desk; no runtime
// reads it. Text, a line per instruction: name, scale, zero point, between tabs; a scale of 0 where
// codes have no real meaning.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"
#include "engine/engine.h"

namespace thimble::emit {

inline constexpr char kLayersKey[] = "thimble_layers";

struct Layer {
  std::string name;
  double scale = 0;
  int32_t zero_point = 0;

  bool operator==(const Layer&) const = default;
};

[[nodiscard]] formats::pte::NamedData layers_data(const engine::Lowered& lowered);

/// One per instruction of the first chain; nullopt if the file has no such entry.
[[nodiscard]] Result<std::optional<std::vector<Layer>>> read_layers(
    const formats::pte::Program& program);

}  // namespace thimble::emit
