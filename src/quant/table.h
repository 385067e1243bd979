#pragma once
// What a chain of element-wise float operators computes for one number: the content of tables.

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "quant/pins.h"

namespace thimble::quant {

class ElementFunction {
 public:
  /// `value` as a function of `source`; both as in OpPlan::result and table_source. `graph` and
  /// `pins` must outlive the function. With pins, every step is computed as PyTorch does: in
  /// float32, and brought to codes and back where it has parameters.
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
  std::vector<std::optional<double>> constants_;  // by result: the number, for constants
  size_t result_ = 0;
};

}  // namespace thimble::quant
