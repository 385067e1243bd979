#include "emit/decompile_memory.h"

#include <algorithm>

namespace thimble::emit {

namespace pte = formats::pte;
using ir::ValueId;

namespace {

std::optional<ir::DType> dtype_of(pte::ScalarType type) {
  switch (type) {
    case pte::ScalarType::kFloat:
      return ir::DType::kF32;
    case pte::ScalarType::kChar:
      return ir::DType::kI8;
    case pte::ScalarType::kByte:
      return ir::DType::kU8;
    case pte::ScalarType::kShort:
      return ir::DType::kI16;
    case pte::ScalarType::kInt:
      return ir::DType::kI32;
    case pte::ScalarType::kLong:
      return ir::DType::kI64;
    case pte::ScalarType::kBool:
      return ir::DType::kBool;
    default:
      return {};
  }
}

std::vector<int64_t> full_order(const ir::Type& type) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    order.push_back(type.dim_order.empty() ? static_cast<int64_t>(i) : type.dim_order[i]);
  }
  return order;
}

}  // namespace

Result<const pte::Tensor*> DecompilerMemory::tensor(int32_t index) const {
  const auto* tensor = std::get_if<pte::Tensor>(&plan_.values[static_cast<size_t>(index)]);
  if (tensor == nullptr) return bad_input("values[{}] is not a tensor", index);
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
  // Overwritten ranges are removed. A range that is overwritten in part keeps its ends.
  std::map<uint64_t, Range> left;
  std::erase_if(ranges_, [&](const auto& entry) {
    const uint64_t at = entry.first;
    const Range& place = entry.second;
    if (end <= at || at + place.bytes <= begin) return false;
    if (at < begin) left[at] = {place.value, begin - at, place.from};
    if (end < at + place.bytes) {
      left[end] = {place.value, at + place.bytes - end, place.from + (end - at)};
    }
    return true;
  });
  ranges_.merge(left);
  ranges_[begin] = {value, bytes};
  return ok();
}

Result<ValueId> DecompilerMemory::read(int32_t index) {
  THIMBLE_TRY(const pte::Tensor* tensor, this->tensor(index));
  THIMBLE_TRY(const ir::Type type, this->type(index));
  if (tensor->allocation) {
    const uint64_t begin = address_key(*tensor->allocation);
    const auto place = ranges_.find(begin);
    const bool whole = place != ranges_.end() && place->second.bytes == type.bytes() &&
                       graph_->type(place->second.value).bytes() == type.bytes();
    if (whole) return reinterpret(place->second.value, type);
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
  auto place = ranges_.upper_bound(begin);
  if (place != ranges_.begin()) --place;
  for (; place != ranges_.end() && at < end; ++place) {
    if (place->first > at || place->first + place->second.bytes <= at) break;
    const uint64_t from = place->second.from + (at - place->first);
    const uint64_t bytes = std::min(end, place->first + place->second.bytes) - at;
    if (graph_->type(place->second.value).dtype != type.dtype || from % element != 0 ||
        bytes % element != 0) {
      return unsupported("is read with another element type than it was written with");
    }
    THIMBLE_TRY(ValueId piece, flat(place->second.value));
    if (bytes != graph_->type(piece).bytes()) {
      THIMBLE_TRY(piece, graph_->add(ir::OpKind::slice, {piece},
                                     {{"dim", int64_t{0}},
                                      {"start", static_cast<int64_t>(from / element)},
                                      {"end", static_cast<int64_t>((from + bytes) / element)}}));
    }
    pieces.push_back(piece);
    at += bytes;
  }
  if (at != end) return bad_input("is read before it is written");
  if (pieces.size() == 1) return shaped(pieces[0], type);
  THIMBLE_TRY(const ValueId all, graph_->add(ir::OpKind::concat, pieces, {{"dim", int64_t{0}}}));
  return shaped(all, type);
}

Result<ValueId> DecompilerMemory::flat(ValueId value) {
  const ir::Type type = graph_->type(value);
  THIMBLE_TRY(const ValueId frame,
              graph_->add(ir::OpKind::permute, {value}, {{"dims", full_order(type)}}));
  return graph_->add(ir::OpKind::reshape, {frame}, {{"shape", ir::Shape{type.elements()}}});
}

Result<ValueId> DecompilerMemory::reinterpret(ValueId value, const ir::Type& as) {
  const ir::Type is = graph_->type(value);
  if (is.shape == as.shape && is.dim_order == as.dim_order) return value;
  if (is.dtype != as.dtype)
    return unsupported("memory is read with another element type than it was written with");
  // Permute to memory order; shaped() reshapes and permutes to the reader's logical order.
  THIMBLE_TRY(const ValueId frame,
              graph_->add(ir::OpKind::permute, {value}, {{"dims", full_order(is)}}));
  return shaped(frame, as);
}

Result<ValueId> DecompilerMemory::shaped(ValueId flat, const ir::Type& as) {
  const std::vector<int64_t> to = full_order(as);
  ir::Shape shape;
  for (const int64_t dim : to) shape.push_back(as.shape[static_cast<size_t>(dim)]);
  THIMBLE_TRY(const ValueId frame, graph_->add(ir::OpKind::reshape, {flat}, {{"shape", shape}}));
  std::vector<int64_t> inverse(to.size());
  for (size_t i = 0; i < to.size(); ++i)
    inverse[static_cast<size_t>(to[i])] = static_cast<int64_t>(i);
  ir::Graph::ResultHint hint;
  hint.dim_order = as.dim_order;
  return graph_->add(ir::OpKind::permute, {frame}, {{"dims", inverse}}, {}, hint);
}

}  // namespace thimble::emit
