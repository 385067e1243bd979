#pragma once
// The rule of each float operator: which integer operator stands for it, with which numbers. One
// row of rules.def and one function in a file per family; formulas are those of docs/numerics.md.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "quant/lowering.h"

namespace thimble::quant {

namespace trait {
inline constexpr uint32_t kNone = 0;
inline constexpr uint32_t kTable = 1;
inline constexpr uint32_t kClamp = 2;
inline constexpr uint32_t kShares = 4;
inline constexpr uint32_t kJoins = 8;
inline constexpr uint32_t kWeights = 16;
inline constexpr uint32_t kChooses = 32;
inline constexpr uint32_t kEntries = 64;
inline constexpr uint32_t kWide = 128;
inline constexpr uint32_t kEither = 256;
}  // namespace trait

/// One float operator while it is lowered. Operands are named by their position.
class RuleCall {
 public:
  RuleCall(Lowering* lowering, size_t op_index, ir::Graph::ResultHint hint);

  [[nodiscard]] const ir::Op& op() const { return op_; }
  [[nodiscard]] size_t op_index() const { return op_index_; }
  [[nodiscard]] const OpPlan& plan() const { return plan_; }
  [[nodiscard]] const ir::Graph& from() const { return lowering_.from(); }
  [[nodiscard]] const Plan& whole_plan() const { return lowering_.plan(); }
  [[nodiscard]] const Decisions& decisions() const { return lowering_.decisions(); }
  [[nodiscard]] bool has(size_t operand) const { return op_.inputs[operand] != ir::kNoValue; }
  [[nodiscard]] const ir::Value& operand(size_t i) const { return from().value(op_.inputs[i]); }
  [[nodiscard]] const ir::Type& type(size_t i) const { return operand(i).type; }
  [[nodiscard]] const ir::Type& result_type() const { return from().type(op_.output); }

  /// Is the arithmetic that of 16-bit activations?
  [[nodiscard]] bool wide() const { return plan_.wide; }
  /// Scale and zero point: of an operand, in the operator's own width, and of the result (behind
  /// clamps that were taken over).
  [[nodiscard]] Params params(size_t i) const;
  [[nodiscard]] const Params& result() const;

  /// The integer value of an operand, in its own parameters or brought to others. Operands that
  /// are no float32 (indices, conditions) are passed as they are.
  Result<ir::ValueId> codes(size_t i);
  Result<ir::ValueId> codes(size_t i, const Params& wanted);
  /// All operands, absent ones too.
  Result<std::vector<ir::ValueId>> all_codes(const Params& wanted);

  /// A constant of the integer graph, named after the result.
  ir::ValueId constant(std::string_view role, ir::Tensor tensor,
                       std::optional<ir::Quant> quant = {});
  ir::ValueId named_constant(std::string name, ir::Tensor tensor,
                             std::optional<ir::Quant> quant = {});

  /// Attributes `min` and `max`: codes of the clamp behind the operator.
  void set_clamp(ir::Attrs& attrs) const;
  /// Attributes `<prefix>mult` and `<prefix>shift`; the error names the user's line.
  [[nodiscard]] Status set_multiplier(ir::Attrs& attrs, const std::string& prefix,
                                      double real) const;
  /// The same for a 64-bit sum (docs/numerics.md, requantize64).
  [[nodiscard]] Status set_multiplier64(ir::Attrs& attrs, double real) const;
  /// The operator's user line before the message.
  [[nodiscard]] Error located(const Error& error) const;

  /// The integer operator whose result stands for the float operator's.
  Result<ir::ValueId> add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs);
  /// One on the way to it, with its own parameters.
  Result<ir::ValueId> add_inner(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs,
                                std::string_view role, std::optional<ir::Quant> quant);

 private:
  Lowering& lowering_;
  const size_t op_index_;
  const ir::Op& op_;
  const OpPlan& plan_;
  const ir::Graph::ResultHint hint_;
};

struct Rule {
  Result<ir::ValueId> (*lower)(RuleCall& call) = nullptr;
  uint32_t traits = trait::kNone;
};
/// Null for an operator without an integer form.
[[nodiscard]] const Rule* rule_of(ir::OpKind kind);
[[nodiscard]] bool has_trait(ir::OpKind kind, uint32_t trait);

// arithmetic.cpp
Result<ir::ValueId> div_rule(RuleCall& call);
Result<ir::ValueId> mean_rule(RuleCall& call);
Result<ir::ValueId> prelu_rule(RuleCall& call);
Result<ir::ValueId> product_rule(RuleCall& call);
Result<ir::ValueId> sum_rule(RuleCall& call);
/// For operators that are always part of a table: never called.
Result<ir::ValueId> table_rule(RuleCall& call);
// choice.cpp
Result<ir::ValueId> compare_rule(RuleCall& call);
// image.cpp
Result<ir::ValueId> adaptive_avg_pool2d_rule(RuleCall& call);
Result<ir::ValueId> resize_bilinear_rule(RuleCall& call);
// matmul.cpp
Result<ir::ValueId> gather_rule(RuleCall& call);
Result<ir::ValueId> matmul_rule(RuleCall& call);
// movement.cpp
Result<ir::ValueId> avg_pool2d_rule(RuleCall& call);
Result<ir::ValueId> movement_rule(RuleCall& call);
Result<ir::ValueId> pad_rule(RuleCall& call);
// recurrent.cpp
Result<ir::ValueId> gru_rule(RuleCall& call);
Result<ir::ValueId> lstm_rule(RuleCall& call);
Result<ir::ValueId> rnn_rule(RuleCall& call);
// norm.cpp
Result<ir::ValueId> norm_rule(RuleCall& call);
// reduce.cpp
/// `factor` times the sum over the attributes' dimensions.
Result<ir::ValueId> reduced(RuleCall& call, double factor);
Result<ir::ValueId> argmax_rule(RuleCall& call);
Result<ir::ValueId> cumsum_rule(RuleCall& call);
Result<ir::ValueId> reduce_sum_rule(RuleCall& call);
Result<ir::ValueId> variance_rule(RuleCall& call);
// softmax.cpp
Result<ir::ValueId> log_softmax_rule(RuleCall& call);
Result<ir::ValueId> softmax_rule(RuleCall& call);
// weighted.cpp
Result<ir::ValueId> weighted_rule(RuleCall& call);

}  // namespace thimble::quant
