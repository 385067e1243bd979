// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads the committed networks for quantization tests and benchmarks.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/quantize.h"

namespace thimble::test {

struct Network {
  ir::Graph graph;  // imported, after the float passes
  quant::CalibrationData calibration;
  std::vector<std::vector<ir::Tensor>> tests;  // [sample][input]
};

/// Reads `<folder>/<name>.pt2`, calibrate.npz and at most `tests_max` samples of test.npz.
[[nodiscard]] Result<Network> load_network(const std::filesystem::path& folder, size_t tests_max);

/// Returns 10 log10(sum (ref - mean over samples)^2 / sum (ref - got)^2) of the first output.
[[nodiscard]] double measure_sqnr_db(const ir::Graph& float_graph, const ir::Graph& integer_graph,
                                     const std::vector<std::vector<ir::Tensor>>& tests);

}  // namespace thimble::test
