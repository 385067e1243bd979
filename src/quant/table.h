// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluates a chain of elementwise float operators for one number, to fill tables.

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "quant/pins.h"

namespace thimble::quant {

class ElementFunction {
 public:
  /// Represents `value` as a function of `source`; see OpPlan::result and table_source. `graph` and
  /// `pins` must outlive the function. With pins, every step is computed as in PyTorch: in float32,
  /// and rounded to the quantized values if the step's result has parameters.
  ElementFunction(const ir::Graph& graph, const Pins& pins, ir::ValueId source, ir::ValueId value);

  [[nodiscard]] double operator()(double x) const;

 private:
  struct Step {
    const ir::Op* op;
    size_t operands[3];  // indices of earlier steps' results; result 0 is x
  };

  [[nodiscard]] double rounded(const Step& step, double value) const;

  const Pins& pins_;
  const ir::ValueId value_;
  std::vector<Step> steps_;
  std::vector<std::optional<double>> constants_;  // by result: its number if it is a constant
  size_t result_ = 0;
};

}  // namespace thimble::quant
