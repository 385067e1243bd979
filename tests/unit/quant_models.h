#pragma once
// The committed networks as quantization tests and benchmarks need them.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/quantize.h"

namespace thimble::test {

struct Network {
  ir::Graph graph;  // imported, float passes run
  quant::CalibrationData calibration;
  std::vector<std::vector<ir::Tensor>> tests;  // inputs by sample
};

/// Reads `<folder>/<name>.pt2`, calibrate.npz and at most `tests_max` samples of test.npz.
[[nodiscard]] Result<Network> load_network(const std::filesystem::path& folder, size_t tests_max);

/// 10 log10(sum (ref - mean over samples)^2 / sum (ref - got)^2) of the first output.
[[nodiscard]] double measure_sqnr_db(const ir::Graph& float_graph, const ir::Graph& integer_graph,
                                     const std::vector<std::vector<ir::Tensor>>& tests);

}  // namespace thimble::test
