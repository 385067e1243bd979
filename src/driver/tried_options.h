// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options of `compile` against a low SQNR. Each is tried on the calibration data, so that a warning
// names only options whose effect is known. The model is quantized again for each trial:
//
//   --activations int16             16-bit activations
//   --quant M=float                 M adds the largest noise; then also what is largest after that,
//                                   three operators or modules at most
//   --activations int16 --quant M=float
//
// Trials end when an option reaches kGoodSqnrDb. Precisions without kernels on the part are not
// tried. Test: tests/unit/wide_inputs_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/stages.h"
#include "engine/part.h"

namespace thimble::driver {

/// SQNR that is sufficient for most networks; trials end there.
inline constexpr double kGoodSqnrDb = 25;
/// A smaller gain is not worth an option.
inline constexpr double kGainDb = 3;

/// The model, and how it was quantized. All members must outlive the calls.
struct TrialModel {
  const FloatModel& model;
  const Calibration& data;
  const CompileOptions& options;  // of with_recipe()
  const engine::Part& part;
};

/// `quantized` is the result with the options as they are.
[[nodiscard]] Result<std::vector<quant::TriedOption>> try_options(
    const TrialModel& trial, const quant::QuantizedModel& quantized);

/// Returns the trial with the highest SQNR; null if it is not kGainDb above `sqnr_db`.
[[nodiscard]] const quant::TriedOption* best_option(const std::vector<quant::TriedOption>& tried,
                                                    double sqnr_db);

}  // namespace thimble::driver
