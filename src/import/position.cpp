// SPDX-License-Identifier: Apache-2.0
#include "import/position.h"

#include <algorithm>
#include <utility>

#include "import/constants.h"

namespace thimble::import_pt2 {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

bool is_integer(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kI64;
}

/// Returns the value of which `id` is a view with the same elements in the same order.
ValueId unviewed(const Builder& builder, ValueId id) {
  for (const ir::Op* op = builder.producer(id); op != nullptr; op = builder.producer(id)) {
    const bool whole = op->kind == OpKind::reshape || op->kind == OpKind::slice ||
                       op->kind == OpKind::expand || op->kind == OpKind::permute;
    const bool same =
        ir::element_count(builder.shape(op->inputs[0])) == ir::element_count(builder.shape(id));
    const bool ordered = op->kind != OpKind::permute || ir::element_count(builder.shape(id)) == 1;
    if (!whole || !same || !ordered) return id;
    id = op->inputs[0];
  }
  return id;
}

bool is_input(const Builder& builder, ValueId id) {
  const auto& inputs = builder.graph.inputs();
  return std::find(inputs.begin(), inputs.end(), id) != inputs.end();
}

/// Returns the number of positions of an integer graph input of one element; 0 for other values.
int64_t count_of(const Builder& builder, ValueId id, const PositionCounts& counts) {
  if (!is_input(builder, id) || !is_integer(builder.graph.type(id).dtype)) return 0;
  if (ir::element_count(builder.shape(id)) != 1) return 0;
  const auto found = counts.find(builder.graph.value(id).name);
  return found == counts.end() ? 0 : found->second;
}

ir::Tensor with_rows(ir::Tensor tensor, int64_t rows, const ir::Shape& shape) {
  tensor.shape = shape;
  tensor.shape.insert(tensor.shape.begin(), rows);
  return tensor;
}

}  // namespace

void note_position(const Builder& builder, ValueId index, int64_t size, PositionCounts& counts) {
  if (index == ir::kNoValue) return;
  const ValueId input = unviewed(builder, index);
  if (!is_input(builder, input)) return;
  const auto [entry, fresh] = counts.try_emplace(builder.graph.value(input).name, size);
  if (!fresh) entry->second = std::min(entry->second, size);
}

std::optional<PositionTable> table_of(const Builder& builder, ValueId value,
                                      const PositionCounts& counts) {
  const ir::Type& type = builder.graph.type(value);
  if (type.dtype == DType::kF32) return std::nullopt;
  const ValueId source = unviewed(builder, value);
  if (const int64_t rows = count_of(builder, source, counts); rows > 0 && rows <= kPositionsMax) {
    ir::Tensor numbers = ir::zeros(type.dtype, {rows});
    for (int64_t i = 0; i < rows; ++i) {
      set_element(numbers, static_cast<size_t>(i), static_cast<double>(i));
    }
    return PositionTable{source, rows, with_rows(std::move(numbers), rows, type.shape)};
  }
  const ir::Op* op = builder.producer(source);
  if (op == nullptr || op->kind != OpKind::gather || op->get(ir::attr::dim) != 0) {
    return std::nullopt;
  }
  const ir::Tensor* rows = builder.constant_of(op->inputs[0]);
  const ValueId position = unviewed(builder, op->inputs[1]);
  const int64_t count = count_of(builder, position, counts);
  if (rows == nullptr || count == 0 || count > kPositionsMax || rows->shape[0] != count ||
      ir::element_count(rows->shape) > builder.known_elements_max()) {
    return std::nullopt;
  }
  return PositionTable{position, count, with_rows(*rows, count, type.shape)};
}

Result<ValueId> row_of_table(Builder& builder, const PositionTable& table, const ir::Shape& shape,
                             const ir::Source& source, const std::string& name) {
  ir::Tensor rows = table.values;
  // A table of single elements is one-dimensional; the index then has the shape of the value.
  const bool single = ir::element_count(shape) == 1;
  if (single) rows.shape = {table.rows};
  // The position itself, as after arange(1) + position.
  bool same = single && rows.dtype == builder.graph.type(table.position).dtype;
  for (int64_t i = 0; same && i < table.rows; ++i) {
    same = element(rows, static_cast<size_t>(i)) == static_cast<double>(i);
  }
  if (same) {
    return builder.add(OpKind::reshape, {table.position}, {{ir::attr::shape, shape}}, source, name);
  }
  const ValueId constant = builder.constant(name + "_table", std::move(rows));
  const ir::Shape index_shape = single ? shape : ir::Shape{};
  ValueId index = table.position;
  if (builder.shape(index) != index_shape) {
    THIMBLE_TRY(index, builder.add(OpKind::reshape, {index}, {{ir::attr::shape, index_shape}},
                                   source, name + "_position"));
  }
  return builder.add(OpKind::gather, {constant, index}, {{ir::attr::dim, int64_t{0}}}, source,
                     name);
}

}  // namespace thimble::import_pt2
