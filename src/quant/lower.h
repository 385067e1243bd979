#pragma once
// lower(): the integer graph, once roles and parameters are decided. One function per operator,
// each the formula of docs/numerics.md with real scales turned into integers.

#include <map>
#include <set>
#include <vector>

#include "base/result.h"
#include "quant/plan.h"
#include "quant/quantize.h"
#include "quant/range.h"
#include "quant/weights.h"

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

/// What calibration and trials decided; by value of the float graph where not said otherwise.
struct Decisions {
  std::vector<Params> params;
  std::vector<Params> narrow;                      // int8 ones, where `params` has 16 bits
  std::vector<std::vector<double>> channel_means;  // see Observations
  std::set<size_t> per_tensor;  // operator indices of linears whose weights get one scale
  int64_t rounding = 0;         // of operators that have the attribute
  std::map<ir::ValueId, Params> symmetric{};  // see Classes::Assigned

  /// The parameters under which an operator of this width reads the value.
  [[nodiscard]] Params read(ir::ValueId id, bool wide) const {
    const auto i = static_cast<size_t>(id);
    return quant::read(params[i], narrow[i], wide);
  }
};

/// The weights of a conv2d, conv_transpose2d or linear, decided.
[[nodiscard]] Result<IntegerWeights> weights_of(const ir::Graph& graph, const ir::Op& op,
                                                ir::ValueId result, const Plan& plan,
                                                const Decisions& decisions, bool per_channel);

[[nodiscard]] Result<LoweredGraph> lower(const ir::Graph& graph, const Plan& plan,
                                         const Decisions& decisions, Io io);

}  // namespace thimble::quant
