#pragma once
// Scale and zero point of every value that gets codes.
//
// Values fall into classes that share one scale and zero point: a class holds what data movement
// and pools connect, and the operands of a concat (maximum, where, ...) with its result, unless an
// operand's range is so much smaller that sharing would waste its codes. A class gets its numbers
// from what calibration saw of its sources, the values that arithmetic (or the caller) makes; from
// fixed numbers, if one of them is a softmax, sigmoid or tanh, or if
// PyTorch chose them.

#include <map>
#include <optional>
#include <vector>

#include "passes/uses.h"
#include "quant/plan.h"
#include "quant/range.h"

namespace thimble::quant {

/// Result of an operator whose range is known without data.
[[nodiscard]] std::optional<Params> fixed_params(const ir::Op& op);

class Classes {
 public:
  Classes(const ir::Graph& graph, const Plan& plan);

  /// Values that calibration has to look at, in graph order. With `all`, those too that would not
  /// matter under the plan's widths.
  [[nodiscard]] std::vector<ir::ValueId> observed(bool all = false) const;

  /// Results of arithmetic, and inputs, that PyTorch did not quantize.
  [[nodiscard]] std::vector<ir::ValueId> unknown() const;

  /// `seen` by value, for the observed ones. By value; meaningful where the value gets codes.
  struct Assigned {
    std::vector<Params> params;
    std::vector<Params> narrow;  // int8 parameters, for those who read a 16-bit value in 8 bits
    /// For those who read a value without a zero point that has one, because a softmax fixes it.
    std::map<ir::ValueId, Params> symmetric;
  };
  [[nodiscard]] Assigned assign(const std::vector<Histogram>& seen, Observer observer);

 private:
  [[nodiscard]] size_t find(ir::ValueId id) const;
  void unite(ir::ValueId a, ir::ValueId b);
  void unite_states();
  [[nodiscard]] bool is_wide(ir::ValueId id) const { return plan_.wide[static_cast<size_t>(id)]; }
  [[nodiscard]] bool is_float(ir::ValueId id) const {
    return graph_.type(id).dtype == ir::DType::kF32;
  }
  void join_all(Observer observer);
  void join(const ir::Op& op, ir::ValueId result, Observer observer);
  void join_choice(const ir::Op& op, ir::ValueId result, Observer observer);
  [[nodiscard]] Range range_of(size_t root, Observer observer) const;
  void include_constant(ir::ValueId id, const ir::Tensor& constant, bool before_softmax);
  [[nodiscard]] bool is_pure_mask(size_t root, Observer observer) const;
  [[nodiscard]] Params params_of_class(size_t root, Observer observer) const;
  [[nodiscard]] bool is_symmetric(size_t root) const;
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
  std::vector<bool> source_;                  // by value
  std::vector<bool> symmetric_;               // by value: somebody reads it with zero point 0
  std::vector<std::optional<Params>> fixed_;  // by class root
  std::vector<Histogram> seen_;               // by class root
};

}  // namespace thimble::quant
