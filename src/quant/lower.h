// SPDX-License-Identifier: Apache-2.0
#pragma once
// lower(): creates the integer graph after roles and parameters are decided. Each float operator
// has one function, which converts the real scales of its docs/numerics.md formula into integers.

#include <map>
#include <set>
#include <vector>

#include "base/result.h"
#include "quant/plan.h"
#include "quant/quantize.h"
#include "quant/range.h"
#include "quant/weight_cache.h"
#include "quant/weights.h"

namespace thimble::quant {

/// An integer value and the float value that it represents.
struct Counterpart {
  ir::ValueId integer = ir::kNoValue;
  ir::ValueId real = ir::kNoValue;
  size_t float_op = 0;  // index of the operator that produces `real`, before merged clamps
  size_t integer_op = 0;
};

struct LoweredGraph {
  ir::Graph graph;
  std::vector<Counterpart> counterparts;  // in execution order; excludes quantize and dequantize
};

/// Results of calibration and trials, by value of the float graph unless stated otherwise.
struct Decisions {
  std::vector<Params> params;
  std::vector<Params> narrow;                      // int8 parameters where `params` is 16-bit
  std::vector<std::vector<double>> channel_means;  // see Observations
  std::set<size_t> per_tensor;  // operator indices of linears with one weight scale
  int64_t rounding = 0;         // value of the attribute `rounding`, for operators that have it
  std::map<ir::ValueId, Params> symmetric{};  // see Classes::Assigned
  std::set<ir::ValueId> int4{};               // results of operators with weights of 4 bits
  bool int4_groups = false;                   // with factors, where can_have_groups() (int4.h)
  /// Weights that are not rounded to the nearest code, by result of their operator.
  std::map<ir::ValueId, AdaptedWeights> adapted{};
  /// Mean errors that biases remove (output_bias.h), by result of the operator.
  std::map<ir::ValueId, std::vector<double>> bias_error{};
  WeightCache* weight_cache = nullptr;  // of the float graph; may be null

  /// Returns the parameters with which an operator of this width reads the value.
  [[nodiscard]] Params read(ir::ValueId id, bool wide) const {
    const auto i = static_cast<size_t>(id);
    return quant::read(params[i], narrow[i], wide);
  }
};

/// Quantizes the weights of a conv2d, conv_transpose2d or linear.
[[nodiscard]] Result<IntegerWeights> weights_of(const ir::Graph& graph, const ir::Op& op,
                                                ir::ValueId result, const Plan& plan,
                                                const Decisions& decisions, bool per_channel);

[[nodiscard]] Result<LoweredGraph> lower(const ir::Graph& graph, const Plan& plan,
                                         const Decisions& decisions, const IoTypes& io);

}  // namespace thimble::quant
