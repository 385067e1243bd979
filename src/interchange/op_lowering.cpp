// SPDX-License-Identifier: Apache-2.0
#include "interchange/op_lowering.h"

#include <algorithm>

namespace thimble::interchange {

using ir::DimOrder;
using ir::OpKind;
using ir::Shape;

Status OpLowering::lower() {
  switch (op_->kind) {
    case OpKind::qconv2d:
    case OpKind::qconv2d16:
      return convolution();
    case OpKind::qconv_transpose2d:
    case OpKind::qconv_transpose2d16:
      return transposed_convolution();
    case OpKind::qlinear:
    case OpKind::qlinear16:
      return linear();
    case OpKind::qmatmul:
      return matmul();
    case OpKind::qadd:
    case OpKind::qadd16:
    case OpKind::qsub:
    case OpKind::qsub16:
      return add_or_subtract();
    case OpKind::qmul:
      return multiply();
    case OpKind::qprelu:
      return prelu();
    case OpKind::lut:
      return lookup_table();
    case OpKind::maximum:
    case OpKind::minimum:
      return max_or_min();
    case OpKind::compare:
      return compare();
    case OpKind::logical_and:
    case OpKind::logical_or:
    case OpKind::logical_not:
      return logical();
    case OpKind::where:
      return where();
    case OpKind::rescale:
      return rescale_codes();
    case OpKind::copy:
      layouts_.alias(operand(0), op_->output);
      return ok();
    case OpKind::reshape:
      return reshape();
    case OpKind::permute:
      layouts_.alias_permuted(operand(0), op_->output, get(ir::attr::dims));
      return ok();
    case OpKind::slice:
      return slice();
    case OpKind::concat:
      return concat();
    case OpKind::pad:
      return pad();
    case OpKind::expand:
      return expand();
    case OpKind::gather:
      return gather();
    case OpKind::qavg_pool2d:
    case OpKind::qavg_pool2d16:
    case OpKind::max_pool2d:
    case OpKind::max_pool2d16:
      return pool();
    case OpKind::qmean:
      return mean();
    case OpKind::amax:
    case OpKind::amin:
      return reduce_max_or_min();
    case OpKind::argmax:
      return arg_max_or_min();
    case OpKind::qsoftmax:
    case OpKind::qsoftmax16:
      return softmax();
    default:
      return lower_other();
  }
}

Status OpLowering::check_constant(size_t i) const {
  const ir::Value& value = graph_.value(operand(i));
  if (value.constant) return ok();
  return refuse(fmt::format("operand {} is not a constant", value.name));
}

Result<const ir::Tensor*> OpLowering::constant_content(size_t i) const {
  THIMBLE_CHECK(check_constant(i));
  return graph_.value(operand(i)).constant.get();
}

std::optional<std::vector<int32_t>> OpLowering::constant_positions(size_t i, int64_t size) const {
  const ir::Tensor* index = graph_.value(operand(i)).constant.get();
  if (index == nullptr) return std::nullopt;
  std::vector<int32_t> positions;
  for (size_t k = 0; k < static_cast<size_t>(ir::element_count(index->shape)); ++k) {
    const int64_t raw =
        index->dtype == ir::DType::kI64 ? index->data<int64_t>()[k] : index->data<int32_t>()[k];
    positions.push_back(
        static_cast<int32_t>(std::clamp<int64_t>(raw < 0 ? raw + size : raw, 0, size - 1)));
  }
  return positions;
}

DimOrder OpLowering::common_order() const {
  const size_t rank = result_shape().size();
  DimOrder found;
  for (const ir::ValueId input : op_->inputs) {
    if (input == ir::kNoValue || graph_.value(input).constant) continue;
    if (graph_.type(input).shape.size() != rank) continue;
    const DimOrder order = layouts_.existing(input);
    if (found.empty() || order == Layouts::image()) found = order;
  }
  return found.empty() ? Layouts::logical(rank) : found;
}

DimOrder OpLowering::order_with_last(const std::vector<int64_t>& dims) const {
  DimOrder order = Layouts::logical(shape(0).size());
  std::stable_partition(order.begin(), order.end(),
                        [&](uint8_t dim) { return std::ranges::find(dims, dim) == dims.end(); });
  return order;
}

Shape OpLowering::shape_split_after_dim(const DimOrder& order) const {
  const Shape from = Layouts::in_order(shape(0), order);
  const auto place = from.begin() + Layouts::position(order, get(ir::attr::dim));
  return {1, ir::element_count(Shape(from.begin(), place + 1)), 1,
          ir::element_count(Shape(place + 1, from.end()))};
}

Status OpLowering::put_reduced(int tensor, const DimOrder& order) {
  Shape kept = shape(0);
  for (const int64_t dim : get(ir::attr::dims)) kept[static_cast<size_t>(dim)] = 1;
  if (result_shape() == kept) return put(tensor, order);
  if (!ir::same_memory(kept, order, {})) {
    std::vector<int> perms;
    for (size_t i = 0; i < kept.size(); ++i) {
      perms.push_back(Layouts::position(order, static_cast<int64_t>(i)));
    }
    tensor = maker_.transposed(tensor, perms, kept);
  }
  return put(maker_.reshaped(tensor, result_shape()));
}

Shape with_rank(const Shape& shape, size_t rank) {
  Shape padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  return padded;
}

Shape without_unit_dims(const Shape& shape) {
  Shape kept = shape;
  std::erase(kept, 1);
  return kept;
}

}  // namespace thimble::interchange
