#pragma once
// The `named_data` entry "thimble_layers", written on request (`compile --names`). It names the
// value that each kernel call makes, and gives its quantization. Host tools read it; no runtime
// does. It is text with one line per instruction: name, scale and zero point, separated by tabs.
// The scale is 0 if the value is not quantized.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "formats/pte/program.h"

namespace thimble::emit {

inline constexpr char kLayersKey[] = "thimble_layers";

struct Layer {
  std::string name;
  double scale = 0;
  int32_t zero_point = 0;

  bool operator==(const Layer&) const = default;
};

[[nodiscard]] formats::pte::NamedData layers_data(const engine::Lowered& lowered);

/// One entry per instruction of the first chain; nullopt if the file has no such entry.
[[nodiscard]] Result<std::optional<std::vector<Layer>>> read_layers(
    const formats::pte::Program& program);

}  // namespace thimble::emit
