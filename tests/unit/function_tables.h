// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lookup tables of functions, from independent formulas in double and in float32.

#include <cstdint>
#include <functional>
#include <vector>

#include "interchange/table_function.h"
#include "ir_random_graph.h"

namespace thimble::test {

using Entries = std::vector<int8_t>;
using Formula = std::function<double(double)>;

struct Codes {
  ir::Quant x, y;
};

[[nodiscard]] Formula formula_of(const interchange::Function& function);
[[nodiscard]] Entries table_of(const Codes& codes, const Formula& f, bool single);
/// Returns a graph with one lut of an input of 256 elements.
[[nodiscard]] ir::Graph graph_of_table(const Codes& codes, const Entries& entries);

/// Returns a random float32 value, uniform in its logarithm.
[[nodiscard]] double float_scale(Random& random, double low, double high);

}  // namespace thimble::test
