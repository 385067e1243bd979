// SPDX-License-Identifier: Apache-2.0
#include "emit/decompile_memory.h"

#include <algorithm>

#include "emit/dtypes.h"

namespace thimble::emit {

namespace pte = formats::pte;
using ir::ValueId;

namespace {

std::vector<int64_t> memory_order(const ir::Type& type) {
  const ir::DimOrder order = full_order(type.dim_order, type.shape.size());
  return {order.begin(), order.end()};
}

}  // namespace

Result<const pte::Tensor*> DecompilerMemory::tensor(int32_t index) const {
  const auto* tensor = std::get_if<pte::Tensor>(&plan_.values[static_cast<size_t>(index)]);
  if (tensor == nullptr) return bad_input("values[{}] is not a tensor", index);
  if (tensor->allocation && tensor->allocation->offset >> kOffsetBits != 0) {
    return bad_input("values[{}]: its offset {} is too large", index, tensor->allocation->offset);
  }
  return tensor;
}

Result<ir::Type> DecompilerMemory::type(int32_t index) const {
  THIMBLE_TRY(const pte::Tensor* tensor, this->tensor(index));
  const std::optional<ir::DType> dtype = dtype_of(tensor->scalar_type);
  if (!dtype)
    return unsupported("values[{}]: element type {}", index, pte::name(tensor->scalar_type));
  ir::Type type;
  type.dtype = *dtype;
  type.shape.assign(tensor->sizes.begin(), tensor->sizes.end());
  type.dim_order.assign(tensor->dim_order.begin(), tensor->dim_order.end());
  if (ir::is_contiguous(type.dim_order)) type.dim_order.clear();
  return type;
}

Result<const Bytes*> DecompilerMemory::constant(int32_t index) const {
  THIMBLE_TRY(const pte::Tensor* tensor, this->tensor(index));
  if (tensor->allocation || tensor->data_buffer_idx == 0)
    return bad_input("values[{}] is not a constant", index);
  return &program_.constants[tensor->data_buffer_idx];
}

Status DecompilerMemory::add_input(int32_t index) {
  THIMBLE_TRY(const ir::Type type, this->type(index));
  const ValueId value = graph_->add_input(fmt::format("input_{}", graph_->inputs().size()), type);
  unplanned_[index] = value;
  THIMBLE_TRY(const pte::Tensor* tensor, this->tensor(index));
  return tensor->allocation ? write(index, value) : ok();
}

Status DecompilerMemory::add_state(int32_t index, ByteView content) {
  THIMBLE_TRY(const ir::Type type, this->type(index));
  auto initial = std::make_shared<const ir::Tensor>(
      ir::from_memory(content, type.dtype, type.shape, type.dim_order));
  const ValueId value =
      graph_->add_state(fmt::format("state_{}", graph_->states().size()), std::move(initial));
  graph_->value(value).type.dim_order = type.dim_order;
  return write(index, value);
}

Status DecompilerMemory::write(int32_t index, ValueId value) {
  THIMBLE_TRY(const pte::Tensor* tensor, this->tensor(index));
  if (!tensor->allocation) return bad_input("values[{}] is written but not planned", index);
  const uint64_t begin = address_key(*tensor->allocation);
  const uint64_t bytes = graph_->type(value).bytes();
  const uint64_t end = begin + bytes;
  // Removes the overwritten bytes of older ranges. Of a partly overwritten range, the parts before
  // and after remain.
  std::map<uint64_t, Range> remaining;
  std::erase_if(ranges_, [&](const auto& entry) {
    const uint64_t range_begin = entry.first;
    const Range& range = entry.second;
    const uint64_t range_end = range_begin + range.bytes;
    if (end <= range_begin || range_end <= begin) return false;
    if (range_begin < begin)
      remaining[range_begin] = {range.value, begin - range_begin, range.from};
    if (end < range_end) {
      remaining[end] = {range.value, range_end - end, range.from + (end - range_begin)};
    }
    return true;
  });
  ranges_.merge(remaining);
  ranges_[begin] = {value, bytes};
  return ok();
}

Result<ValueId> DecompilerMemory::read(int32_t index) {
  THIMBLE_TRY(const pte::Tensor* tensor, this->tensor(index));
  THIMBLE_TRY(const ir::Type type, this->type(index));
  if (tensor->allocation) {
    const uint64_t begin = address_key(*tensor->allocation);
    const auto range = ranges_.find(begin);
    const bool whole = range != ranges_.end() && range->second.bytes == type.bytes() &&
                       graph_->type(range->second.value).bytes() == type.bytes();
    if (whole) return view_as(range->second.value, type);
    Result<ValueId> gathered = gather(begin, type);
    if (!gathered) {
      return Error{gathered.error().kind,
                   fmt::format("values[{}] {}", index, gathered.error().message)};
    }
    return gathered;
  }
  if (const auto found = unplanned_.find(index); found != unplanned_.end()) return found->second;
  THIMBLE_TRY(const Bytes* bytes, constant(index));
  if (bytes->size() != type.bytes())
    return bad_input("values[{}]: its constant has {} bytes", index, bytes->size());
  const ValueId value = graph_->add_constant(fmt::format("constant_{}", index),
                                             std::make_shared<const ir::Tensor>(ir::from_memory(
                                                 *bytes, type.dtype, type.shape, type.dim_order)));
  graph_->value(value).type.dim_order = type.dim_order;
  unplanned_[index] = value;
  return value;
}

Result<ValueId> DecompilerMemory::gather(uint64_t begin, const ir::Type& type) {
  const uint64_t end = begin + type.bytes();
  const auto element = static_cast<uint64_t>(ir::dtype_bytes(type.dtype));
  std::vector<ValueId> pieces;
  uint64_t at = begin;
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin()) --range;
  for (; range != ranges_.end() && at < end; ++range) {
    if (range->first > at || range->first + range->second.bytes <= at) break;
    const uint64_t from = range->second.from + (at - range->first);
    const uint64_t bytes = std::min(end, range->first + range->second.bytes) - at;
    if (graph_->type(range->second.value).dtype != type.dtype || from % element != 0 ||
        bytes % element != 0) {
      return unsupported("is read with another element type than it was written with");
    }
    THIMBLE_TRY(ValueId piece, flat(range->second.value));
    if (bytes != graph_->type(piece).bytes()) {
      THIMBLE_TRY(piece,
                  graph_->add(ir::OpKind::slice, {piece},
                              {{ir::attr::dim, int64_t{0}},
                               {ir::attr::start, static_cast<int64_t>(from / element)},
                               {ir::attr::end, static_cast<int64_t>((from + bytes) / element)}}));
    }
    pieces.push_back(piece);
    at += bytes;
  }
  if (at != end) return bad_input("is read before it is written");
  if (pieces.size() == 1) return shaped(pieces[0], type);
  THIMBLE_TRY(const ValueId all,
              graph_->add(ir::OpKind::concat, pieces, {{ir::attr::dim, int64_t{0}}}));
  return shaped(all, type);
}

Result<ValueId> DecompilerMemory::flat(ValueId value) {
  const ir::Type type = graph_->type(value);
  THIMBLE_TRY(const ValueId in_memory_order,
              graph_->add(ir::OpKind::permute, {value}, {{ir::attr::dims, memory_order(type)}}));
  return graph_->add(ir::OpKind::reshape, {in_memory_order},
                     {{ir::attr::shape, ir::Shape{type.elements()}}});
}

Result<ValueId> DecompilerMemory::view_as(ValueId value, const ir::Type& type) {
  const ir::Type from = graph_->type(value);
  if (from.shape == type.shape && from.dim_order == type.dim_order) return value;
  if (from.dtype != type.dtype)
    return unsupported("memory is read as another element type than it was written");
  // Permute to memory order; shaped() reshapes and permutes to the reader's logical order.
  THIMBLE_TRY(const ValueId in_memory_order,
              graph_->add(ir::OpKind::permute, {value}, {{ir::attr::dims, memory_order(from)}}));
  return shaped(in_memory_order, type);
}

Result<ValueId> DecompilerMemory::shaped(ValueId ordered, const ir::Type& type) {
  const std::vector<int64_t> order = memory_order(type);
  ir::Shape shape;
  for (const int64_t dim : order) shape.push_back(type.shape[static_cast<size_t>(dim)]);
  THIMBLE_TRY(const ValueId in_memory_order,
              graph_->add(ir::OpKind::reshape, {ordered}, {{ir::attr::shape, shape}}));
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  ir::Graph::ResultHint hint;
  hint.dim_order = type.dim_order;
  return graph_->add(ir::OpKind::permute, {in_memory_order}, {{ir::attr::dims, inverse}}, {}, hint);
}

}  // namespace thimble::emit
