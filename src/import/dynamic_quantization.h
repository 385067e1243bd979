// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks whose scales choose_qparams computes at run time. Here scale and zero point are 1 and 0,
// and activations remain real numbers; calibration chooses constant scales (docs/quantization.md).

#include <string>
#include <vector>

#include "import/call.h"

namespace thimble::import_pt2 {

/// Records the results of a node that depend on the outputs of choose_qparams: constants, such as a
/// view of the scale, and activations.
void record_dynamic_results(Context& context, const formats::pt2::Node& node);

/// Returns messages to the user about weights and activations whose quantization was replaced.
[[nodiscard]] std::vector<std::string> quantization_notes(const Context& context);

}  // namespace thimble::import_pt2
