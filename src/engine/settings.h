// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers that a part's file may set for an NPU, as a table of the engine.

#include <span>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace thimble::engine {

struct Setting {
  std::string_view name;
  double min, max, default_value;
  std::string_view source = {};  // why the default is what it is
};

/// Returns the value from the part's file, or else the default. `name` must be in `known`.
[[nodiscard]] double setting(const PartNpu& use, std::span<const Setting> known,
                             std::string_view name);

/// Checks an engine that has settings but neither memory modes nor system configurations: each
/// setting of the part's file must be in `known`, and its value within the bounds.
[[nodiscard]] Status check_settings(const PartNpu& use, std::span<const Setting> known);

}  // namespace thimble::engine
