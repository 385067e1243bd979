// SPDX-License-Identifier: Apache-2.0
#pragma once
// The members of the report that say where an integer graph differs from the float graph.

#include "quant/quality.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// Sets the errors of outputs and operators, the weakest operator and the one that adds the largest
/// noise.
void report_quality(const LoweredGraph& lowered, const Quality& quality, QuantReport& report);

}  // namespace thimble::quant
