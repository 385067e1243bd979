// SPDX-License-Identifier: Apache-2.0
#include "interchange/layouts.h"

#include <cassert>

namespace thimble::interchange {

using ir::DimOrder;
using ir::Shape;
using ir::ValueId;

DimOrder Layouts::logical(size_t rank) {
  DimOrder order;
  for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<uint8_t>(i));
  return order;
}

DimOrder Layouts::io_order(const ir::Type& type) {
  return type.dim_order == image() ? image() : logical(type.shape.size());
}

Shape Layouts::in_order(const Shape& shape, const DimOrder& order) {
  Shape result;
  for (const uint8_t dim : order) result.push_back(shape[dim]);
  return result;
}

int Layouts::position(const DimOrder& order, int64_t dim) {
  for (size_t k = 0; k < order.size(); ++k) {
    if (order[k] == dim) return static_cast<int>(k);
  }
  assert(false);
  return -1;
}

void Layouts::put(ValueId value, DimOrder order, int tensor) {
  if (order.empty()) order = logical(graph_.type(value).shape.size());
  tensors_[value].push_back({std::move(order), tensor});
}

int Layouts::get(ValueId value, DimOrder order) {
  const Shape& shape = graph_.type(value).shape;
  if (order.empty()) order = logical(shape.size());
  std::vector<OrderedTensor>& forms = tensors_[value];
  for (const OrderedTensor& form : forms) {
    if (form.order == order) return form.tensor;
  }
  if (graph_.value(value).constant) {
    forms.push_back({order, maker_.constant(graph_.value(value), order)});
    return forms.back().tensor;
  }
  assert(!forms.empty());
  const Shape wanted = in_order(shape, order);
  for (const OrderedTensor& form : forms) {
    if (!ir::same_memory(shape, form.order, order)) continue;
    forms.push_back({order, maker_.reshaped(form.tensor, wanted)});
    return forms.back().tensor;
  }
  const OrderedTensor& from = forms.front();
  std::vector<int> perms;
  for (const uint8_t dim : order) perms.push_back(position(from.order, dim));
  const int made = maker_.transposed(from.tensor, perms, wanted);
  forms.push_back({order, made});
  return made;
}

DimOrder Layouts::existing(ValueId value) const {
  const size_t rank = graph_.type(value).shape.size();
  const auto found = tensors_.find(value);
  if (graph_.value(value).constant || found == tensors_.end() || found->second.empty()) {
    return logical(rank);
  }
  for (const OrderedTensor& form : found->second) {
    if (form.order == image()) return form.order;
  }
  return found->second.front().order;
}

void Layouts::alias(ValueId from, ValueId to) {
  if (graph_.value(from).constant) return put(to, {}, get(from, {}));
  const std::vector<OrderedTensor> forms = tensors_[from];
  for (const OrderedTensor& form : forms) tensors_[to].push_back(form);
}

void Layouts::alias_permuted(ValueId from, ValueId to, const std::vector<int64_t>& dims) {
  if (graph_.value(from).constant) static_cast<void>(get(from, {}));
  const std::vector<OrderedTensor> forms = tensors_[from];
  for (const OrderedTensor& form : forms) {
    DimOrder order;
    for (const uint8_t dim : form.order) {
      for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == dim) order.push_back(static_cast<uint8_t>(i));
      }
    }
    tensors_[to].push_back({order, form.tensor});
  }
}

}  // namespace thimble::interchange
