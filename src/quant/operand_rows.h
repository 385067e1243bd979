// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vectors that the weights of convolutions and linear layers are multiplied with, sampled while the
// calibration data runs. Their second moments say which errors of the weights matter
// (adaptive_rounding.h).
//
// For a convolution a vector is the patch of one output position, with zeros for padding. Some
// hundred positions per operator are sufficient: neighbors are almost equal.

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "quant/plan.h"

namespace thimble::quant {

/// The sampled vectors of one operator, one column each. A matrix of a grouped convolution has the
/// rows of all groups, one group after the other.
struct OperandMatrix {
  size_t op = 0;  // index in graph.ops()
  int64_t terms = 0, groups = 1, outputs = 0;
  int64_t per_sample = 0;       // columns of one sample
  int64_t columns = 0;          // of all samples; samples after them are not used
  std::vector<float> elements;  // [groups * terms][columns]
};

class OperandRows {
 public:
  OperandRows() = default;
  /// `samples`: number of calibration samples. Those before `first_sample` are left out.
  /// Chooses the operators whose rounding is adapted, the cheapest ones first, until `work`
  /// multiply-accumulates or the memory for the vectors are used. Weights that several operators
  /// read, weights that PyTorch quantized, and operators that stay in float are left out.
  [[nodiscard]] static OperandRows choose(const ir::Graph& graph, const Plan& plan,
                                          int64_t first_sample, int64_t samples, double work);

  [[nodiscard]] bool empty() const { return matrices_.empty(); }
  [[nodiscard]] int64_t first_sample() const { return first_sample_; }
  /// Adds the vectors of one sample. Different samples may be added by different threads.
  void add(const ir::Graph& graph, size_t op, int64_t sample, const ir::Tensor& operand);
  [[nodiscard]] const std::vector<OperandMatrix>& matrices() const { return matrices_; }

 private:
  std::vector<OperandMatrix> matrices_;
  int64_t first_sample_ = 0;
  std::vector<int> place_;  // by operator: index into matrices_, or -1
};

}  // namespace thimble::quant
