// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluates one float operator for one element in double, with the same result on every machine.
// The contents of tables and the fast engine use it.

#include "ir/graph.h"

namespace thimble::quant {

/// Evaluates an operator with trait kTable. Surplus operands are ignored. Booleans are 0 and 1.
[[nodiscard]] double element_value(const ir::Op& op, double a, double b = 0, double c = 0);

}  // namespace thimble::quant
