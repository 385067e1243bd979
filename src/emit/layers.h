// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `named_data` entry "thimble_layers", written on request (`compile --names`). It has one
// line per instruction: name, scale and zero point of the instruction's first result, separated by
// tabs. The scale is 0 if the value has no per-tensor quantization. Host tools read it; no runtime
// does.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "formats/pte/program.h"

namespace thimble::emit {

inline constexpr char kLayersKey[] = "thimble_layers";

struct InstructionResult {
  std::string name;
  double scale = 0;
  int32_t zero_point = 0;

  bool operator==(const InstructionResult&) const = default;
};

[[nodiscard]] formats::pte::NamedData layers_entry(const engine::Lowered& lowered);

/// Returns one InstructionResult per instruction of the first chain; nullopt if the file has no
/// such `named_data`.
[[nodiscard]] Result<std::optional<std::vector<InstructionResult>>> read_layers(
    const formats::pte::Program& program);

}  // namespace thimble::emit
