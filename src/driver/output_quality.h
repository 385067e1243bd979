// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SQNR of the model's outputs. An output of indices has an agreement instead, and an output
// that is constant over the samples has no signal, so that its SQNR has no meaning.

#include <cstddef>
#include <optional>
#include <string>

#include "driver/compile.h"
#include "quant/quantize.h"

namespace thimble::driver {

/// Returns true if real numbers of the output never vary over the samples.
[[nodiscard]] bool is_constant_output(const quant::QuantReport& report, size_t output);

/// Returns true if real numbers of the output equal those of the float model.
[[nodiscard]] bool is_exact_output(const quant::QuantReport& report, size_t output);

/// Returns true if numbers of the output, in the float model or in the program, are NaN or
/// infinite.
[[nodiscard]] bool is_not_finite_output(const quant::QuantReport& report, size_t output);

/// Returns " of the first 3 samples:" if the SQNRs are not those of all samples.
[[nodiscard]] std::string of_first_samples(const quant::QuantReport& report);

/// Returns the SQNR of an output in dB; nothing if it was not measured or has no meaning.
[[nodiscard]] std::optional<double> output_sqnr_db(const quant::QuantReport& report, size_t output);

/// Returns the lowest SQNR of all outputs in dB, infinite if all are exact; nothing if no output
/// has one.
[[nodiscard]] std::optional<double> lowest_sqnr_db(const CompileReport& report);
[[nodiscard]] std::optional<double> lowest_sqnr_db(const quant::QuantReport& report);

/// Below this SQNR the report has a warning.
inline constexpr double kWarnSqnrDb = 10;

/// If the lowest SQNR of an output is below kWarnSqnrDb, adds a warning, and sets accuracy_warning.
void warn_of_low_sqnr(CompileReport* report);

}  // namespace thimble::driver
