// SPDX-License-Identifier: Apache-2.0
#pragma once
// --weights auto:flash=SIZE: gives weights 4 bits, where the outputs lose least, until the program
// with its code needs at most SIZE bytes of flash.
//
// The noise that each operator alone adds to the outputs is measured (quant::Int4Candidate).
// Operators are added by increasing noise per byte that they save. After each, the flash is
// measured on the integer graph with 8 bits whose weights are cut to 4 bits, which has the same
// size. Then operators that the limit does not need are removed, the largest noise first. Sums of
// single noises are an estimate: rounding the weights together (adaptive_rounding.h) follows after
// the choice. The result is deterministic. Code of kernels with 4 bits counts, so a small layer may
// not pay.

#include "driver/stages.h"

namespace thimble::driver {

/// Returns the quantized model, with report.int4_choice. A not-supported error states the smallest
/// flash if the limit options.int4_flash_max cannot be reached.
[[nodiscard]] Result<quant::QuantizedModel> quantize_within_flash(
    const FloatModel& model, const Calibration& data, const CompileOptions& options,
    const std::shared_ptr<const engine::Part>& part);

/// Returns the estimated cycles of one run if all weights of 4 bits had 8; nothing if they are not
/// known.
[[nodiscard]] Result<std::optional<int64_t>> cycles_with_int8_weights(
    const FloatModel& model, const quant::QuantizedModel& quantized,
    const std::shared_ptr<const engine::Part>& part, const CompileOptions& options);

}  // namespace thimble::driver
