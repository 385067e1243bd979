// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lowering rule of each float operator: its integer operator and the parameters. Each operator
// has one row in rules.def and one function, in one file per operator family. The formulas are
// those of docs/numerics.md.

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
inline constexpr uint32_t kSharesParams = 4;
inline constexpr uint32_t kJoinsParams = 8;
inline constexpr uint32_t kConstantWeights = 16;
inline constexpr uint32_t kSelects = 32;
inline constexpr uint32_t kConstantEntries = 64;
inline constexpr uint32_t kWide = 128;
inline constexpr uint32_t kEitherWidth = 256;
inline constexpr uint32_t kSamples = 512;
}  // namespace trait

/// One float operator during lowering. Operands are identified by position.
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

  /// Returns true if the operator is lowered with 16-bit activations.
  [[nodiscard]] bool wide() const { return plan_.wide; }
  /// Scale and zero point of an operand, in the width of the operator, and of the result, after
  /// merged clamps.
  [[nodiscard]] Params params(size_t i) const;
  [[nodiscard]] const Params& result() const;

  /// Returns the integer value of an operand, with its own parameters or converted to `wanted`.
  /// Operands that are not float32 (indices, conditions) are returned unchanged.
  Result<ir::ValueId> codes(size_t i);
  Result<ir::ValueId> codes(size_t i, const Params& wanted);
  /// Returns all operands, including absent ones as kNoValue.
  Result<std::vector<ir::ValueId>> all_codes(const Params& wanted);

  /// Adds a constant to the integer graph; its name is that of the result plus `role`.
  ir::ValueId constant(std::string_view role, ir::Tensor tensor,
                       std::optional<ir::Quant> quant = {});
  ir::ValueId named_constant(std::string name, ir::Tensor tensor,
                             std::optional<ir::Quant> quant = {});
  ir::ValueId named_constant(std::string name, ir::TensorPtr tensor,
                             std::optional<ir::Quant> quant = {});

  /// Sets the attributes `min` and `max` to the quantized bounds of the merged clamps.
  void set_clamp(ir::Attrs& attrs) const;
  /// Sets the attributes `<prefix>mult` and `<prefix>shift`. An error has the source line.
  [[nodiscard]] Status set_multiplier(ir::Attrs& attrs, const ir::MultiplierKeys& keys,
                                      double real) const;
  /// Same for a 64-bit sum (docs/numerics.md, requantize64).
  [[nodiscard]] Status set_multiplier64(ir::Attrs& attrs, double real) const;
  /// Returns the error with the operator's source line prepended.
  [[nodiscard]] Error located(const Error& error) const;

  /// Adds the integer operator whose result replaces that of the float operator.
  Result<ir::ValueId> add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs);
  /// Adds the integer operator whose operands are the quantized operands of the float operator,
  /// each with its own parameters.
  Result<ir::ValueId> add_with_all_operands(ir::OpKind kind, ir::Attrs attrs);
  /// Gives an integer input of the graph the scale and zero point of its elements.
  void set_input_quant(ir::ValueId input, ir::Quant quant) {
    lowering_.to().value(input).type.quant = std::move(quant);
  }
  /// Adds an intermediate integer operator with its own parameters.
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
/// Returns null for an operator without an integer form.
[[nodiscard]] const Rule* rule_of(ir::OpKind kind);
[[nodiscard]] bool has_trait(ir::OpKind kind, uint32_t trait);

// arithmetic.cpp
Result<ir::ValueId> div_rule(RuleCall& call);
Result<ir::ValueId> mean_rule(RuleCall& call);
Result<ir::ValueId> prelu_rule(RuleCall& call);
Result<ir::ValueId> product_rule(RuleCall& call);
Result<ir::ValueId> sum_rule(RuleCall& call);
/// Rule of operators that are always part of a table; it is never called.
Result<ir::ValueId> table_rule(RuleCall& call);
// compare.cpp
Result<ir::ValueId> compare_rule(RuleCall& call);
// frame.cpp
Result<ir::ValueId> camera_image_rule(RuleCall& call);
Result<ir::ValueId> unpack_rule(RuleCall& call);
// image.cpp
Result<ir::ValueId> adaptive_avg_pool2d_rule(RuleCall& call);
Result<ir::ValueId> resize_bilinear_rule(RuleCall& call);
// integers.cpp
/// Rule of operators whose operands and result are integers without scale.
Result<ir::ValueId> integer_rule(RuleCall& call);
Result<ir::ValueId> int_to_float_rule(RuleCall& call);
// matmul.cpp
Result<ir::ValueId> gather_rule(RuleCall& call);
Result<ir::ValueId> matmul_rule(RuleCall& call);
// log_mel.cpp
Result<ir::ValueId> log_mel_rule(RuleCall& call);
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
/// Adds `factor` times the sum over the dimensions in the attributes.
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
