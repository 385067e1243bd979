// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inputs whose values span more decades than their quantized values can represent, such as power
// spectra and raw counts. Test: tests/unit/wide_inputs_test.cpp.

#include <string>
#include <vector>

#include "driver/data.h"
#include "ir/graph.h"

namespace thimble::driver {

/// Returns a warning for each quantized input of which most values other than 0 become 0. The
/// samples are those of the calibration, in the order of the graph's inputs.
[[nodiscard]] std::vector<std::string> input_resolution_warnings(const ir::Graph& integer,
                                                                 const Samples& samples);

}  // namespace thimble::driver
