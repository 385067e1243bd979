#pragma once
// Requirements on a compiled model, such as "latency<20ms,sram<128K,accuracy>0.9".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thimble::driver {

/// Figures of one model on one part. A figure that is not known has no value.
struct Figures {
  std::optional<double> latency_us;
  std::optional<double> sram_bytes, flash_bytes;
  std::optional<double> accuracy;  // share of samples with the right class, 0 to 1
  std::optional<double> sqnr_db;   // of the worst output
};

struct Requirement {
  std::string text;  // as the user wrote it
  std::optional<double> Figures::*figure = nullptr;
  bool is_maximum = false;  // an upper bound; otherwise a lower bound
  bool or_equal = false;    // the bound itself meets the requirement
  double bound = 0;         // in the unit of the figure
};

/// Parses requirements separated by commas, with spaces around them; an empty text has none. An
/// error names the invalid one and what is expected.
[[nodiscard]] Result<std::vector<Requirement>> parse_requirements(std::string_view text);

/// Returns nothing if the figure is not known.
[[nodiscard]] std::optional<bool> is_met(const Requirement& requirement, const Figures& figures);

}  // namespace thimble::driver
