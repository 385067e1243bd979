// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assigns scale and zero point to every value that is quantized.
//
// Values form classes that share one scale and zero point. Data movement and pools put their
// operand and result in one class. So do concat, maximum, where, ..., except for an operand whose
// range is so small that sharing would waste resolution. The parameters of a class come from the
// calibrated ranges of its sources, which are graph inputs and results of arithmetic. They are
// fixed if a member is the result of softmax, sigmoid or tanh, or if PyTorch chose them.

#include <map>
#include <optional>
#include <vector>

#include "passes/uses.h"
#include "quant/plan.h"
#include "quant/range.h"

namespace thimble::quant {

/// Returns the parameters of an operator's result whose range is known without calibration data.
[[nodiscard]] std::optional<Params> fixed_params(const ir::Op& op, bool wide = false);

class Classes {
 public:
  Classes(const ir::Graph& graph, const Plan& plan);

  /// Returns the values that calibration must observe, in graph order. With `all`, includes values
  /// that are needed only if the plan's widths change.
  [[nodiscard]] std::vector<ir::ValueId> observed(bool all = false) const;

  /// Returns results of arithmetic, and inputs, that PyTorch did not quantize.
  [[nodiscard]] std::vector<ir::ValueId> unknown() const;

  /// Joins classes as far as that needs no ranges (annotate.h).
  void join_without_ranges();

  /// Facts about the parameters of a value that need no data.
  struct Sharing {
    size_t root = 0;              // of the class
    bool has_own_range = false;   // an input or a result of arithmetic
    bool symmetric = false;       // of the class
    std::optional<Params> fixed;  // of the class
  };
  [[nodiscard]] Sharing sharing(ir::ValueId id) const;

  /// Parameters by value; defined for values that are quantized.
  struct Assigned {
    std::vector<Params> params;
    std::vector<Params> narrow;  // int8 parameters for readers that use a 16-bit value in 8 bits
    /// Parameters for readers that require zero point 0 of a value whose own zero point is not 0.
    std::map<ir::ValueId, Params> symmetric;
  };
  [[nodiscard]] Assigned assign(const std::vector<Histogram>& seen, Observer observer);

 private:
  [[nodiscard]] size_t find(ir::ValueId id) const;
  void unite(ir::ValueId a, ir::ValueId b);
  void unite_states();
  [[nodiscard]] bool can_have_scale_from_range(const ir::Op& op, const OpPlan& op_plan) const;
  void fix_sigmoid_scales(Observer observer);
  [[nodiscard]] bool is_wide(ir::ValueId id) const { return plan_.wide[static_cast<size_t>(id)]; }
  [[nodiscard]] bool is_float(ir::ValueId id) const {
    return graph_.type(id).dtype == ir::DType::kF32;
  }
  void join_all(Observer observer);
  void join(const ir::Op& op, ir::ValueId result, Observer observer);
  void join_selection(const ir::Op& op, ir::ValueId result, Observer observer);
  [[nodiscard]] Range range_of(size_t root, Observer observer) const;
  void include_constant(ir::ValueId id, const ir::Tensor& constant, double mask_limit);
  [[nodiscard]] bool is_pure_mask(size_t root, Observer observer) const;
  [[nodiscard]] Params params_of_class(size_t root, Observer observer) const;
  [[nodiscard]] bool is_symmetric(size_t root) const;
  [[nodiscard]] bool holds_samples(size_t root) const;
  [[nodiscard]] Params narrow_of_class(size_t root, const Params& own, Observer observer) const;
  void include_first_states(Observer observer);
  void join_scores(Observer observer);
  void widen_masks(std::vector<Params>& params, Observer observer) const;
  void raise_small_scales(Assigned& assigned) const;
  [[nodiscard]] std::map<ir::ValueId, Params> symmetric_reads(const std::vector<Params>& params,
                                                              const std::vector<Histogram>& seen,
                                                              Observer observer) const;

  const ir::Graph& graph_;
  const passes::Uses uses_;
  const Plan& plan_;
  mutable std::vector<size_t> parent_;
  std::vector<bool> source_;                  // by value: an input or a result of arithmetic
  std::vector<bool> symmetric_;               // by value: an operator reads it with zero point 0
  std::vector<bool> wide_samples_;            // by value: 16-bit samples of the application
  std::vector<bool> samples_;                 // by value: sample_rows()
  std::vector<std::optional<Params>> fixed_;  // by class root
  std::vector<std::pair<ir::ValueId, Params>>
      sigmoids_;                 // sigmoid and tanh: results with their fixed parameters
  std::vector<Histogram> seen_;  // by class root
};

}  // namespace thimble::quant
