// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random subgraphs for the AXON. Each is run through the compiler and the integer model of the NPU
// and compared with the reference evaluator.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "tests/unit/ir_random_graph.h"

namespace thimble::test {

struct AxonOutcome {
  bool refused = false;
  std::string message;  // reason of the refusal, or the difference; empty if equal
  int64_t cycles = 0;
  std::vector<std::string> layers;
  bool transposed_hw =
      false;  // H and W can be transposed; the reference evaluator found no difference
};

/// Legalizes, lowers and serializes the subgraph, checks the container, and runs it on the model
/// with random inputs.
[[nodiscard]] AxonOutcome run_axon(const ir::Graph& region, uint64_t seed,
                                   const std::vector<std::pair<size_t, size_t>>& states = {});

/// Builder of a subgraph. Every value has a scale and a zero point.
class AxonNet {
 public:
  explicit AxonNet(uint64_t seed) : random(seed) {}

  ir::ValueId input(const ir::Shape& shape);
  ir::ValueId conv(ir::ValueId x, int64_t channels, std::vector<int64_t> kernel,
                   std::vector<int64_t> stride = {1, 1},
                   std::vector<int64_t> padding = {0, 0, 0, 0},
                   std::vector<int64_t> dilation = {1, 1}, bool per_channel = true);
  ir::ValueId depthwise(ir::ValueId x, std::vector<int64_t> kernel,
                        std::vector<int64_t> stride = {1, 1},
                        std::vector<int64_t> padding = {0, 0, 0, 0}, int64_t multiplier = 1);
  ir::ValueId grouped(ir::ValueId x, int64_t channels, int64_t groups, std::vector<int64_t> kernel,
                      bool per_channel);
  ir::ValueId linear(ir::ValueId x, int64_t outputs, bool per_channel = false);
  ir::ValueId add(ir::ValueId a, ir::ValueId b);
  ir::ValueId subtract(ir::ValueId a, ir::ValueId b);
  /// Maximum or minimum of two values with one scale and zero point.
  ir::ValueId extreme(ir::OpKind kind, ir::ValueId a, ir::ValueId b);
  ir::ValueId mul(ir::ValueId a, ir::ValueId b);
  ir::ValueId mean(ir::ValueId x, std::vector<int64_t> dims, bool keep = true);
  ir::ValueId average_pool(ir::ValueId x, std::vector<int64_t> kernel, std::vector<int64_t> stride,
                           std::vector<int64_t> padding = {0, 0, 0, 0});
  ir::ValueId amax(ir::ValueId x, std::vector<int64_t> dims, bool keepdim);
  ir::ValueId max_pool(ir::ValueId x, std::vector<int64_t> kernel, std::vector<int64_t> stride,
                       std::vector<int64_t> padding = {0, 0, 0, 0});
  ir::ValueId softmax(ir::ValueId x, int64_t dim);
  ir::ValueId sigmoid(ir::ValueId x);
  ir::ValueId tanh(ir::ValueId x);
  /// Lookup table of a leaky ReLU. Slope 0 is a ReLU, slope 1 changes the scale only.
  ir::ValueId leaky(ir::ValueId x, double slope);
  ir::ValueId prelu(ir::ValueId x);
  ir::ValueId concat(const std::vector<ir::ValueId>& xs, int64_t dim);
  ir::ValueId slice(ir::ValueId x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
  ir::ValueId pad(ir::ValueId x, std::vector<int64_t> before, std::vector<int64_t> after,
                  double value);
  ir::ValueId reshape(ir::ValueId x, ir::Shape shape);
  ir::ValueId constant(const ir::Shape& shape);

  /// If true, results have a fused ReLU: their minimum is the zero point of the output.
  bool relu = false;
  int64_t max = 127;
  ir::Graph graph;
  Random random;

  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return graph.type(id).shape; }
  [[nodiscard]] int64_t zero_point(ir::ValueId id) const {
    return graph.type(id).quant->zero_point[0];
  }
  [[nodiscard]] double scale(ir::ValueId id) const { return graph.type(id).quant->scale[0]; }
  /// Adds an operator; the graph must accept it.
  ir::ValueId add_op(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs,
                     const ir::Quant& quant);

 protected:
  ir::ValueId sum(ir::OpKind kind, ir::ValueId a, ir::ValueId b);
  ir::Quant result(double scale);
  void bounds(ir::Attrs* attrs, const ir::Quant& quant) const;
  ir::ValueId weighted(ir::OpKind kind, ir::ValueId x, const ir::Shape& weights, ir::Attrs attrs,
                       bool per_channel);
  template <typename F>
  ir::ValueId table(ir::ValueId x, const ir::Quant& quant, F f);
};

/// Returns a network of at most `steps` layers with one or a few outputs.
[[nodiscard]] ir::Graph random_axon_network(uint64_t seed, int steps);

}  // namespace thimble::test
