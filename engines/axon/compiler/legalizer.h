// SPDX-License-Identifier: Apache-2.0
#pragma once
// Implementation of legalize(): the member functions are rows of ops.def.

#include <optional>
#include <string>
#include <vector>

#include "engines/axon/compiler/function.h"
#include "ir/graph.h"

namespace thimble::engine::axon {

inline constexpr double kFraction = 0x1p-12;  // scale of numbers with 12 fractional bits

class Legalizer {
 public:
  explicit Legalizer(const ir::Graph& from);
  Result<ir::Graph> run();

 private:
  /// Requantization of a sum to the result's type. Its real multiplier is multiplied by `ratio`.
  struct Requantization {
    double ratio = 1;
    int64_t zero_point = 0;
    int64_t bytes = 1;
    int64_t min = -128, max = 127;
    std::vector<double> slopes;  // applied to negative sums; empty: 1
    [[nodiscard]] double codes() const { return bytes == 1 ? 255 : 65535; }
  };
  /// The only reader of `op`, if it is a function that can be fused into the same layer.
  struct FusedFunction {
    const ir::Op* op = nullptr;
    Function function;
  };
  using Emit = Result<ir::ValueId> (Legalizer::*)(const ir::Op& op, const Requantization& ask,
                                                  const ir::Graph::ResultHint& hint);

  Status add(const ir::Op& op);

  // Rows of ops.def: one function may legalize several operators.
#define AXON_FUNCTION(name) Status name(const ir::Op& op);
#include "engines/axon/compiler/ops.def"

  // legalize_weighted.cpp
  Result<ir::ValueId> emit_weighted(const ir::Op& op, const Requantization& ask,
                                    const ir::Graph::ResultHint& hint);
  Result<ir::ValueId> standalone_leaky_relu(const ir::Op& op, const Function& function);
  // legalize_arithmetic.cpp
  Result<ir::ValueId> emit_sum(const ir::Op& op, const Requantization& ask,
                               const ir::Graph::ResultHint& hint);
  Result<ir::ValueId> emit_product(const ir::Op& op, const Requantization& ask,
                                   const ir::Graph::ResultHint& hint);
  Result<ir::ValueId> emit_mean(const ir::Op& op, const Requantization& ask,
                                const ir::Graph::ResultHint& hint);
  Result<ir::ValueId> emit_pool(const ir::Op& op, const Requantization& ask,
                                const ir::Graph::ResultHint& hint);
  Result<ir::ValueId> emit_scaled(const ir::Op& op, ir::OpKind kind, ir::Attrs attrs, double real,
                                  double accumulator_max, const Requantization& ask,
                                  const ir::Graph::ResultHint& hint);
  /// Adds a product of the first operand with 1, requantized as `ask` says.
  Result<ir::ValueId> requantized(const ir::Op& op, const Requantization& ask,
                                  const ir::Graph::ResultHint& hint);

  /// Adds a product of `x`, a value of the new graph, with `factor`, requantized as `ask` says.
  Result<ir::ValueId> times(ir::ValueId x, int8_t factor, const Requantization& ask,
                            const ir::Op& op, const ir::Graph::ResultHint& hint);

  // legalize_extreme.cpp
  Result<ir::ValueId> negated(ir::ValueId x, int64_t zero, const ir::Op& op);
  Result<ir::ValueId> minus(ir::ValueId x, const ir::Quant& result, const ir::Op& op,
                            const std::string& name);
  Result<ir::ValueId> plain_sum(ir::ValueId a, ir::ValueId b, const ir::Op& op,
                                const ir::Graph::ResultHint& hint);

  Status emit_fused(const ir::Op& op, Emit emit, Requantization own);
  /// Returns the requantization of an operator without a fused reader: its own bounds.
  static Requantization own_requantization(const ir::Op& op, int64_t zero_point);
  [[nodiscard]] std::optional<FusedFunction> fusible_reader(const ir::Op& op) const;
  /// Returns the requantization that the function requires of its operand's layer. Unsupported if
  /// a layer would need two slopes and also bounds.
  [[nodiscard]] static Result<Requantization> requantization_for(const Function& function,
                                                                 double scale);
  /// Adds the sigmoid, tanh or softmax after a sum of 16 or 32 bits.
  Result<ir::ValueId> add_curve(const Function& function, ir::ValueId x, const ir::Op& op);
  [[nodiscard]] ir::Graph::ResultHint hint_of(ir::ValueId id) const;
  [[nodiscard]] ir::ValueId constant(const std::string& name, ir::Tensor tensor,
                                     std::optional<ir::Quant> quant = {});
  /// Returns true if the padding can be fused into all of its readers (convolutions only).
  [[nodiscard]] bool folds(const ir::Op& pad) const;
  [[nodiscard]] const ir::Op* producer(ir::ValueId id) const;
  [[nodiscard]] bool only_read_by_one(ir::ValueId id) const;
  static void set_requantization_attrs(const Requantization& ask, ir::Attrs* attrs);

  const ir::Graph& from_;
  ir::Rewriter rewriter_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<bool> result_;  // by value: it is a graph output or the next value of a state
  std::vector<bool> done_;    // by operator: it is fused into another one
};

}  // namespace thimble::engine::axon
