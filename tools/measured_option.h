// SPDX-License-Identifier: Apache-2.0
#pragma once
// The option of `compile` that helps most, for `compare --per-layer`: the float model is quantized
// for the file's target with the data as calibration, without and with each option
// (driver/tried_options.h).

#include <optional>
#include <string>

#include "base/result.h"
#include "driver/compile.h"
#include "driver/data.h"

namespace thimble::tools {

struct MeasuredOption {
  std::string text;                    // "--activations int16"
  double before_db = 0, after_db = 0;  // lowest SQNR of the outputs, without and with it
};

/// `options` has the target, and how the model is read. Nothing if no option gains enough, or if
/// PyTorch quantized the model.
[[nodiscard]] Result<std::optional<MeasuredOption>> measured_option(
    const std::filesystem::path& float_model, const driver::Samples& samples,
    const driver::CompileOptions& options);

}  // namespace thimble::tools
