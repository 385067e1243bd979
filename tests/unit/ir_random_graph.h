// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random graphs by seed, from the rows of ops.def: every operator occurs, values are small. Used by
// tests of properties of all graphs (printing, copying, evaluating).

#include <cstdint>
#include <random>
#include <vector>

#include "ir/graph.h"

namespace thimble::test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// Returns low..high inclusive. (std::uniform_int_distribution gives other values per library.)
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

/// Returns random elements: any bits for integers, -8..8 for floats.
[[nodiscard]] ir::Tensor random_tensor(Random& random, ir::DType dtype, const ir::Shape& shape);

/// Returns a verified graph with about `op_count` operators and at least one output.
[[nodiscard]] ir::Graph random_graph(uint64_t seed, int op_count);

[[nodiscard]] std::vector<ir::Tensor> random_inputs(const ir::Graph& graph, uint64_t seed);

}  // namespace thimble::test
