#pragma once
// Quality of a compiled model over a data set, for commands other than `compare`.

#include <filesystem>
#include <optional>

#include "base/result.h"

namespace thimble::tools {

struct QualityFigures {
  std::optional<double> sqnr_db;    // lowest of all outputs of real numbers
  std::optional<double> agreement;  // share of rows with the same class as in float
  std::optional<double> accuracy;   // with labels
};

/// Runs the compiled model on this machine and compares it with the float model.
[[nodiscard]] Result<QualityFigures> compare_quality(const std::filesystem::path& float_model,
                                                     const std::filesystem::path& model,
                                                     const std::filesystem::path& data);

}  // namespace thimble::tools
