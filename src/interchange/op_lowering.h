// SPDX-License-Identifier: Apache-2.0
#pragma once
// Base class of the TFLite and TOSA lowerings: the operators that both formats have, short
// accessors for the operator that is being lowered, and its operands' tensors in the requested
// dimension orders.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interchange/integer_graph.h"
#include "interchange/layouts.h"
#include "numerics/multiplier.h"

namespace thimble::interchange {

class OpLowering {
 protected:
  /// `tool` is the format's name in refusal messages.
  OpLowering(const StatelessGraph& core, TensorMaker& maker, std::string_view tool)
      : source_(core),
        graph_(core.graph),
        maker_(maker),
        layouts_(core.graph, maker),
        tool_(tool) {}
  virtual ~OpLowering() = default;

  /// Lowers the current operator.
  Status lower();
  // One function per kind of operator that both formats have.
  virtual Status convolution() = 0;
  virtual Status transposed_convolution() = 0;
  virtual Status linear() = 0;
  virtual Status matmul() = 0;
  virtual Status add_or_subtract() = 0;
  virtual Status multiply() = 0;
  virtual Status prelu() = 0;
  virtual Status lookup_table() = 0;
  virtual Status max_or_min() = 0;
  virtual Status compare() = 0;
  virtual Status logical() = 0;
  virtual Status where() = 0;
  virtual Status rescale_codes() = 0;
  virtual Status reshape() = 0;
  virtual Status slice() = 0;
  virtual Status concat() = 0;
  virtual Status pad() = 0;
  virtual Status expand() = 0;
  virtual Status gather() = 0;
  virtual Status pool() = 0;
  virtual Status mean() = 0;
  virtual Status reduce_max_or_min() = 0;
  virtual Status arg_max_or_min() = 0;
  virtual Status softmax() = 0;
  /// Lowers an operator that only this format has, or refuses it.
  virtual Status lower_other() = 0;

  template <typename T>
  [[nodiscard]] const T& get(ir::AttrKey<T> key) const {
    return op_->get(key);
  }
  [[nodiscard]] bool has_attr(ir::AttrId id) const { return ir::has_attr(op_->kind, id); }
  /// Returns the zero point, or 0 if the operator has none.
  [[nodiscard]] int64_t zero_point(ir::AttrKey<int64_t> key) const {
    return has_attr(key) ? get(key) : 0;
  }
  [[nodiscard]] numerics::Multiplier multiplier(
      const ir::MultiplierKeys& keys = ir::attr::multiplier) const {
    return {static_cast<int32_t>(get(keys.mult)), static_cast<int32_t>(get(keys.shift))};
  }
  [[nodiscard]] bool single_rounding() const {
    return has_attr(ir::attr::rounding) && get(ir::attr::rounding) == 1;
  }
  [[nodiscard]] bool has(size_t i) const {
    return i < op_->inputs.size() && op_->inputs[i] != ir::kNoValue;
  }
  [[nodiscard]] ir::ValueId operand(size_t i) const { return op_->inputs[i]; }
  [[nodiscard]] const ir::Shape& shape(size_t i) const { return graph_.type(operand(i)).shape; }
  [[nodiscard]] ir::DType dtype(size_t i) const { return graph_.type(operand(i)).dtype; }
  /// Returns an error if operand i is not constant.
  [[nodiscard]] Status check_constant(size_t i) const;
  /// Returns the content of operand i, or an error if it is not constant.
  [[nodiscard]] Result<const ir::Tensor*> constant_content(size_t i) const;
  /// Returns the positions along a dimension of this size if operand i, an index, is constant.
  /// Negative positions count from the end; positions out of range are clamped.
  [[nodiscard]] std::optional<std::vector<int32_t>> constant_positions(size_t i,
                                                                       int64_t size) const;
  [[nodiscard]] const ir::Shape& result_shape() const { return graph_.type(op_->output).shape; }
  /// Returns the result's shape in this dimension order.
  [[nodiscard]] ir::Shape result_shape_in(const ir::DimOrder& order) const {
    return Layouts::in_order(result_shape(), order);
  }
  [[nodiscard]] bool wide() const { return dtype(0) == ir::DType::kI16; }
  [[nodiscard]] bool is_float() const { return dtype(0) == ir::DType::kF32; }
  /// Bounds of the quantized values of operand 0.
  [[nodiscard]] int32_t lowest() const { return wide() ? -32768 : -128; }
  [[nodiscard]] int32_t highest() const { return wide() ? 32767 : 127; }

  int logical(size_t i) { return layouts_.get(operand(i), {}); }
  int operand_in(size_t i, ir::DimOrder order) {
    return layouts_.get(operand(i), std::move(order));
  }
  /// Returns operand i in the order [N, H, W, C].
  int image(size_t i) { return layouts_.get(operand(i), Layouts::image()); }
  /// Returns the dimension order that most operands of an elementwise operator have.
  [[nodiscard]] ir::DimOrder common_order() const;
  /// Returns a dimension order of operand 0 in which `dims` come last; both groups are ascending.
  [[nodiscard]] ir::DimOrder order_with_last(const std::vector<int64_t>& dims) const;
  /// Returns [1, a, 1, b]: a is the product of operand 0's dimensions up to the attribute `dim` in
  /// this order, b the product of the others.
  [[nodiscard]] ir::Shape shape_split_after_dim(const ir::DimOrder& order) const;

  /// Records the tensor of the operator's result.
  Status put(int tensor, ir::DimOrder order = {}) {
    layouts_.put(op_->output, std::move(order), tensor);
    return ok();
  }
  /// Records the result of a reduction. `tensor` has the reduced dimensions with size 1; they are
  /// removed if the operator has keepdim=0.
  Status put_reduced(int tensor, const ir::DimOrder& order);
  [[nodiscard]] Error refuse(const std::string& reason) const {
    return refusal(*op_, tool_, reason);
  }

  const StatelessGraph& source_;
  const ir::Graph& graph_;
  TensorMaker& maker_;
  Layouts layouts_;
  std::string_view tool_;
  const ir::Op* op_ = nullptr;
};

/// Returns the shape extended to `rank` by leading dimensions of size 1.
[[nodiscard]] ir::Shape with_rank(const ir::Shape& shape, size_t rank);

/// Returns the dimensions that are not 1.
[[nodiscard]] ir::Shape without_unit_dims(const ir::Shape& shape);

}  // namespace thimble::interchange
