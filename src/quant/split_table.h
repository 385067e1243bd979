#pragma once
// Tables that an engine has no operator for, as several operators that it has.

#include <span>
#include <string_view>

#include "quant/plan.h"

namespace thimble::quant {

/// A table that holds none of the functions named (named_function.h), such as x * sigmoid(x),
/// becomes arithmetic on tables that do, if at most three operators are enough: sums, products and
/// choices of named functions of one value, and a named function of a line. Else it stays one
/// table, which costs the least accuracy. What PyTorch quantized is told apart
/// wherever it has parameters: there it is rounded already.
void split_tables(const ir::Graph& graph, std::span<const std::string_view> names, Plan& plan);

}  // namespace thimble::quant
