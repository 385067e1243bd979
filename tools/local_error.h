// SPDX-License-Identifier: Apache-2.0
#pragma once
// The error of a single operator of a compiled model: its operands are the float model's values,
// quantized, so that errors of operators before it do not count.
//
// The error is divided by where it arises:
//   clipping   elements of the float result are outside the range of the quantized values
//   overflow   the same for the result of a norm
//   range      the step of the result is too coarse for most of its elements
//   rounding   the rest: weights, operands and the arithmetic

#include <memory>
#include <string_view>

#include "ir/graph.h"
#include "quant/fast/executor.h"
#include "tools/quality.h"

namespace thimble::tools {

/// One operator of a graph as a graph of its own.
class SingleOp {
 public:
  SingleOp(const ir::Graph& graph, const ir::Op& op);

  /// The operands that are no constants, each once.
  [[nodiscard]] const std::vector<ir::ValueId>& operands() const { return operands_; }
  /// Runs the operator on one tensor for each of operands().
  [[nodiscard]] ir::Tensor run(const std::vector<ir::Tensor>& operands) const;

 private:
  ir::Graph graph_;
  std::vector<ir::ValueId> operands_;
};

class LocalError {
 public:
  /// `op` is an operator of the integer graph.
  LocalError(const ir::Graph& graph, const ir::Op& op);

  [[nodiscard]] const std::vector<ir::ValueId>& operands() const { return op_.operands(); }
  /// Runs the operator on one tensor for each of operands(), and adds its error against the float
  /// result.
  void add(const std::vector<ir::Tensor>& operands, const ir::Tensor& reference);

  [[nodiscard]] double decibels() const { return sqnr_.decibels(); }
  [[nodiscard]] std::string_view cause() const;

 private:
  SingleOp op_;
  bool is_norm_ = false;
  ir::Type result_;
  Sqnr sqnr_;
  double noise_ = 0, clipped_ = 0, step_ = 0;
};

/// Returns the nearest quantized values of a type with one scale.
[[nodiscard]] ir::Tensor quantized_as(const ir::Tensor& real, const ir::Type& type);

}  // namespace thimble::tools
