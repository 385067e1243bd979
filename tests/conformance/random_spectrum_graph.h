// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random graphs by seed of one log-mel spectrum, whose samples are the graph's input.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::test {

/// Returns a verified graph with one int16 input and one int8 or int16 output.
[[nodiscard]] ir::Graph random_spectrum_graph(uint64_t seed);

}  // namespace thimble::test
