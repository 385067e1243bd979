#pragma once
// Base class of the TFLite and TOSA lowerings: short accessors for the operator that is being
// lowered, and its operands' tensors in the requested dimension orders.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interchange/integer_graph.h"
#include "interchange/layouts.h"

namespace thimble::interchange {

class OpLowering {
 protected:
  /// `tool` is the format's name in refusal messages.
  OpLowering(const IntegerGraph& core, TensorMaker& maker, std::string_view tool)
      : source_(core), graph_(core.graph), layouts_(core.graph, maker), tool_(tool) {}

  [[nodiscard]] int64_t integer(std::string_view name) const { return op_->integer(name); }
  [[nodiscard]] std::vector<int64_t> integers(std::string_view name) const {
    return op_->integers(name);
  }
  [[nodiscard]] bool has(size_t i) const {
    return i < op_->inputs.size() && op_->inputs[i] != ir::kNoValue;
  }
  [[nodiscard]] ir::ValueId operand(size_t i) const { return op_->inputs[i]; }
  [[nodiscard]] const ir::Shape& shape(size_t i) const { return graph_.type(operand(i)).shape; }
  [[nodiscard]] ir::DType dtype(size_t i) const { return graph_.type(operand(i)).dtype; }
  [[nodiscard]] const ir::Shape& result_shape() const { return graph_.type(op_->output).shape; }
  [[nodiscard]] bool wide() const { return dtype(0) == ir::DType::kI16; }
  int logical(size_t i) { return layouts_.get(operand(i), {}); }
  /// Returns the dimension order that most operands of an elementwise operator have.
  [[nodiscard]] ir::DimOrder common_order() const;
  void put(int tensor, ir::DimOrder order = {}) {
    layouts_.put(op_->output, std::move(order), tensor);
  }
  [[nodiscard]] Error refuse(const std::string& reason) const {
    return refusal(*op_, tool_, reason);
  }

  const IntegerGraph& source_;
  const ir::Graph& graph_;
  Layouts layouts_;
  std::string_view tool_;
  const ir::Op* op_ = nullptr;
};

}  // namespace thimble::interchange
