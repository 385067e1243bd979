// SPDX-License-Identifier: Apache-2.0
#pragma once
// State of the integer graph during lowering. Rules (rules/rules.h) access it through RuleCall.

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "quant/lower.h"

namespace thimble::quant {

class Lowering {
 public:
  Lowering(const ir::Graph& from, const Plan& plan, const Decisions& decisions, const IoTypes& io);

  Result<LoweredGraph> run();

  [[nodiscard]] const ir::Graph& from() const { return from_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Decisions& decisions() const { return decisions_; }
  [[nodiscard]] ir::Graph& to() { return to_; }

  [[nodiscard]] const Params& params_of(ir::ValueId id) const {
    return decisions_.params[static_cast<size_t>(id)];
  }
  /// Returns the integer value for a float value with these parameters. Adds a rescale or a table
  /// if the parameters differ. A value that is not float32 is returned unchanged.
  Result<ir::ValueId> codes(ir::ValueId id, const Params& wanted);

 private:
  [[nodiscard]] bool is_float(ir::ValueId id) const {
    return from_.type(id).dtype == ir::DType::kF32;
  }
  /// Type that the options request for a float input or output.
  [[nodiscard]] Io io_of(ir::ValueId id) const { return io_.of(from_.value(id).name); }
  Status lower_inputs();
  Result<ir::ValueId> integer_input(ir::ValueId id, const ir::Source& source);
  [[nodiscard]] ir::Source source_of_input(const std::vector<int>& readers) const;
  Result<ir::ValueId> dequantized(ir::ValueId id, const ir::Source& source);
  Result<ir::ValueId> unsigned_output(ir::ValueId id, const ir::Source& source);
  Result<ir::ValueId> lower_output(ir::ValueId id, const ir::Source& source);
  Status lower_outputs();
  void lower_states();
  Status lower_updates();
  Result<ir::ValueId> constant_codes(ir::ValueId id, const Params& wanted);
  template <typename F>
  Result<ir::ValueId> add_table(ir::ValueId x, const Params& from, const Params& to, F f,
                                const ir::Source& source, ir::Graph::ResultHint hint);
  Result<ir::ValueId> add_rescale(ir::ValueId x, const Params& from, const Params& to,
                                  const ir::Source& source, ir::Graph::ResultHint hint);
  Result<ir::ValueId> add_wide_table(const ir::Op& op, const OpPlan& plan,
                                     const ir::Graph::ResultHint& hint);
  Status lower_op(size_t op_index);
  Status lower_float(size_t op_index);
  /// Returns the value in float32: of another float operator or a float input, or dequantized.
  Result<ir::ValueId> real(ir::ValueId id, const ir::Source& source);
  /// Adds the quantize operator of a float32 value that has parameters.
  Result<ir::ValueId> quantized(ir::ValueId id, ir::ValueId real, const ir::Source& source);
  [[nodiscard]] bool only_float_readers(ir::ValueId id, const std::vector<int>& readers) const;
  Result<ir::ValueId> lower_table(const ir::Op& op, const OpPlan& plan,
                                  const ir::Graph::ResultHint& hint);

  const ir::Graph& from_;
  const Plan& plan_;
  const Decisions& decisions_;
  const IoTypes& io_;
  ir::Graph to_;
  std::vector<ir::ValueId> codes_;  // integer value by float value
  std::vector<ir::ValueId> reals_;  // float32 value by float value, if there is one
  using Key = std::tuple<ir::ValueId, double, int32_t, int32_t, int32_t, bool, bool>;
  std::map<Key, ir::ValueId> requantized_;
  std::vector<Counterpart> counterparts_;
};

}  // namespace thimble::quant
