// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requirements on a compiled model, such as "latency<20ms,sram<128K,accuracy>0.9": conditions
// (condition.h) on its figures.

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/condition.h"

namespace thimble::driver {

/// Figures of one model on one part. A figure that is not known has no value.
struct Figures {
  std::optional<double> latency_us;
  std::optional<double> sram_bytes, flash_bytes;
  std::optional<double> accuracy;  // share of samples with the right class, 0 to 1
  std::optional<double> sqnr_db;   // of the worst output
};

/// Parses the value of --require.
[[nodiscard]] Result<std::vector<Condition>> parse_requirements(std::string_view text);

/// Returns nothing if the figure is not known.
[[nodiscard]] std::optional<bool> is_met(const Condition& requirement, const Figures& figures);

}  // namespace thimble::driver
