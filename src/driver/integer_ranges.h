// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integers that are computed at run time have 32 bits (passes/narrow_integers.h) and wrap. PyTorch
// computes them in 64 bits. Test: tests/unit/integer_ranges_test.cpp.

#include <string>
#include <vector>

#include "ir/graph.h"
#include "quant/quantize.h"

namespace thimble::driver {

/// Returns a warning for each operator whose results may need more than 32 bits: an interval of
/// each integer is computed from those of the constants, and of the inputs in the data. Nothing is
/// known of an integer that depends on an input without data or on an operator without a rule.
[[nodiscard]] std::vector<std::string> wide_integer_warnings(const ir::Graph& graph,
                                                             const quant::CalibrationData& data);

}  // namespace thimble::driver
