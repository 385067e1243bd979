// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces a table that an engine has no operator for by several operators that it has.

#include <span>
#include <string_view>

#include "quant/plan.h"

namespace thimble::quant {

/// Splits each table that is none of the named functions (named_function.h), such as x *
/// sigmoid(x). The result is arithmetic on tables that are named functions: sums, products, maxima
/// and minima of named functions of one value, and a named function of a line. A table that needs
/// more than three operators is not split, because one table has the best accuracy. A graph with
/// pinned parameters is split only at values that have them, because these are already rounded.
void split_tables(const ir::Graph& graph, std::span<const std::string_view> names, Plan& plan);

}  // namespace thimble::quant
