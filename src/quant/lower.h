#pragma once
// lower(): the integer graph, once roles and parameters are decided. One function per operator,
// each the formula of docs/numerics.md with real scales turned into integers.

#include <set>
#include <vector>

#include "base/result.h"
#include "quant/plan.h"
#include "quant/quantize.h"
#include "quant/range.h"

namespace thimble::quant {

/// An integer value and the float value that it stands for.
struct Counterpart {
  ir::ValueId integer = ir::kNoValue;
  ir::ValueId real = ir::kNoValue;
  size_t float_op = 0;  // index of the operator that made `real` (before clamps)
  size_t integer_op = 0;
};

struct LoweredGraph {
  ir::Graph graph;
  std::vector<Counterpart> counterparts;  // in execution order, without quantize and dequantize
};

/// `params` by value of the float graph; `per_tensor` names the linears (operator index) whose
/// weights get one scale.
[[nodiscard]] Result<LoweredGraph> lower(const ir::Graph& graph, const Plan& plan,
                                         const std::vector<Params>& params,
                                         const std::set<size_t>& per_tensor, Io io);

}  // namespace thimble::quant
