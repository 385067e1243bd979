#pragma once
// What one float operator computes for one element, in double, equal on every machine: the content
// of tables and the fast engine.

#include "ir/graph.h"

namespace thimble::quant {

/// Operators with trait kTable. Operands that the operator does not have are ignored; booleans are
/// 0 and 1.
[[nodiscard]] double element_value(const ir::Op& op, double a, double b = 0, double c = 0);

}  // namespace thimble::quant
