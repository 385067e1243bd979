// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/lower.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;
using ir::ValueId;
using thimble::ethos_u::Config;
using thimble::ethos_u::Generation;

std::optional<Element> element_of(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kI8:
    case ir::DType::kBool:
      return kByte;
    case ir::DType::kU8:
      return Element{8, false};
    case ir::DType::kI16:
      return kInt16;
    case ir::DType::kI32:
      return kInt32;
    default:
      return std::nullopt;
  }
}

Lowering::Lowering(const ir::Graph& graph, const Config& config)
    : graph_(graph),
      config_(config),
      producers_(graph.producers()),
      consumers_(graph.consumers()),
      views_(graph.value_count()),
      places_(graph.value_count()),
      writers_(graph.value_count()) {
  program_.config = &config;
}

bool Lowering::is_u85() const {
  return config_.generation == Generation::kU85;
}

int Lowering::new_tensor(std::string name, Element element, Shape4 shape, TensorRole role) {
  NpuTensor tensor;
  tensor.name = std::move(name);
  tensor.element = element;
  tensor.shape = shape;
  tensor.role = role;
  program_.tensors.push_back(std::move(tensor));
  return static_cast<int>(program_.tensors.size()) - 1;
}

View Lowering::new_view(Element element, const ir::Shape& shape, const ir::DimOrder& order) {
  std::string name = "t" + std::to_string(program_.tensors.size());
  if (ir_op_ >= 0) name = graph_.value(graph_.ops()[static_cast<size_t>(ir_op_)].output).name;
  const int tensor =
      new_tensor(name, element, tensor_shape(shape, order), TensorRole::kIntermediate);
  return dense_view(tensor, element, shape, order);
}

View Lowering::scratch(Element element, const ir::Shape& shape) {
  return new_view(element, shape, default_order(shape.size()));
}

View Lowering::constant(Element element, const ir::Shape& shape, std::vector<std::byte> content) {
  ir::DimOrder order(shape.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  const Shape4 sizes = tensor_shape(shape, order);
  for (const int id : constants_) {
    const NpuTensor& known = program_.tensors[static_cast<size_t>(id)];
    if (known.element == element && known.shape == sizes && known.content == content) {
      return dense_view(id, element, shape, order);
    }
  }
  const int id = new_tensor("constant" + std::to_string(constants_.size()), element, sizes,
                            TensorRole::kConstant);
  program_.tensors.back().content = std::move(content);
  constants_.push_back(id);
  return dense_view(id, element, shape, order);
}

View Lowering::constant_i32(int32_t value) {
  std::vector<std::byte> content(4);
  std::memcpy(content.data(), &value, 4);
  return constant(kInt32, {1}, std::move(content));
}

const ir::Tensor* Lowering::constant_of(ValueId value) const {
  return value == ir::kNoValue ? nullptr : graph_.value(value).constant.get();
}

Result<View> Lowering::read(ValueId value) {
  std::optional<View>& view = views_[static_cast<size_t>(value)];
  if (view) return *view;
  const ir::Value& source = graph_.value(value);
  const auto element = element_of(source.type.dtype);
  if (!element || source.constant == nullptr) {
    return unsupported("%{} is {}, which the NPU does not support", source.name,
                       ir::dtype_name(source.type.dtype));
  }
  // A 4-D constant is stored as NHWC, so that operations read consecutive channels.
  const ir::DimOrder order = default_order(source.type.shape.size());
  View stored = constant(*element, source.type.shape, ir::to_memory(*source.constant, order));
  stored.steps = ir::strides(source.type.shape, order);
  if (order == ir::channels_last_order()) {
    ir::Shape stored_shape;
    for (const uint8_t dim : order) stored_shape.push_back(source.type.shape[dim]);
    stored = constant(*element, stored_shape, ir::to_memory(*source.constant, order));
    stored.shape = source.type.shape;
    stored.steps = ir::strides(source.type.shape, order);
  }
  view = stored;
  return stored;
}

Result<View> Lowering::result(const ir::Op& op, const View* like) {
  const std::optional<View>& place = places_[static_cast<size_t>(op.output)];
  if (place) return *place;
  const ir::Type& wanted = type(op.output);
  const auto element = element_of(wanted.dtype);
  if (!element) {
    return unsupported("its result is {}, which the NPU does not write",
                       ir::dtype_name(wanted.dtype));
  }
  ir::DimOrder order = default_order(wanted.shape.size());
  if (like != nullptr && like->rank() == wanted.shape.size()) order = order_of(*like);
  return new_view(*element, wanted.shape, order);
}

NpuOp Lowering::op_of(NpuOpKind kind) const {
  NpuOp op;
  op.kind = kind;
  op.ir_op = ir_op_;
  op.requantize = unit_scale();
  return op;
}

void Lowering::push(NpuOp op) {
  pushed_.push_back(program_.ops.size());
  program_.ops.push_back(std::move(op));
}

Status Lowering::add_inputs() {
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    const ValueId id = graph_.inputs()[i];
    const ir::Value& value = graph_.value(id);
    const auto element = element_of(value.type.dtype);
    if (!element) {
      return unsupported("input %{} is {}, which the NPU does not read", value.name,
                         ir::dtype_name(value.type.dtype));
    }
    const ir::DimOrder order = order_of(value.type);
    const int tensor =
        new_tensor(value.name, *element, tensor_shape(value.type.shape, order), TensorRole::kInput);
    program_.tensors.back().io_index = static_cast<int>(i);
    program_.inputs.push_back(tensor);
    views_[static_cast<size_t>(id)] = dense_view(tensor, *element, value.type.shape, order);
  }
  if (!graph_.states().empty()) return unsupported("states are supported only on the CPU");
  return ok();
}

Status Lowering::add_outputs() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId id = graph_.outputs()[i];
    const ir::Value& value = graph_.value(id);
    const auto element = element_of(value.type.dtype);
    if (!element) {
      return unsupported("output %{} is {}, which the NPU does not write", value.name,
                         ir::dtype_name(value.type.dtype));
    }
    const ir::DimOrder order = order_of(value.type);
    const int tensor = new_tensor(value.name, *element, tensor_shape(value.type.shape, order),
                                  TensorRole::kOutput);
    program_.tensors.back().io_index = static_cast<int>(i);
    program_.outputs.push_back(tensor);
    std::optional<View>& place = places_[static_cast<size_t>(id)];
    const bool made_here = producers_[static_cast<size_t>(id)] >= 0;
    if (made_here && !place) place = dense_view(tensor, *element, value.type.shape, order);
  }
  return ok();
}

bool Lowering::may_be_placed(ValueId value, bool alone) const {
  const auto id = static_cast<size_t>(value);
  return producers_[id] >= 0 && !places_[id] && element_of(type(value).dtype) &&
         (!alone || consumers_[id].size() == 1);
}

bool Lowering::fusable(const ir::Op& lut) const {
  const ValueId x = lut.inputs[0];
  const int producer = producers_[static_cast<size_t>(x)];
  if (producer < 0 || consumers_[static_cast<size_t>(x)].size() != 1) return false;
  const auto outputs = graph_.outputs();
  if (std::find(outputs.begin(), outputs.end(), x) != outputs.end()) return false;
  switch (graph_.ops()[static_cast<size_t>(producer)].kind) {
    case OpKind::qconv2d:
    case OpKind::qconv2d16:
    case OpKind::qlinear:
    case OpKind::qlinear16:
    case OpKind::qadd:
    case OpKind::qadd16:
    case OpKind::qsub:
    case OpKind::qsub16:
    case OpKind::qmul:
    case OpKind::qmul16:
    case OpKind::max_pool2d:
    case OpKind::max_pool2d16:
    case OpKind::qavg_pool2d:
    case OpKind::qavg_pool2d16:
      return true;
    default:
      return false;
  }
}

/// Returns the value of which `count` operands from `first` on are all the slices, in order;
/// kNoValue if there is none.
ValueId Lowering::split_value(const ir::Op& concat, size_t first, size_t* count) const {
  const auto dim = static_cast<size_t>(concat.get(ir::attr::dim));
  ValueId whole = ir::kNoValue;
  int64_t end = 0;
  for (*count = 0; first + *count < concat.inputs.size(); ++*count) {
    const int producer = producers_[static_cast<size_t>(concat.inputs[first + *count])];
    if (producer < 0) return ir::kNoValue;
    const ir::Op& slice = graph_.ops()[static_cast<size_t>(producer)];
    if (slice.kind != OpKind::slice || slice.get(ir::attr::dim) != concat.get(ir::attr::dim) ||
        slice.get(ir::attr::step) != 1 || slice.get(ir::attr::start) != end ||
        (whole != ir::kNoValue && slice.inputs[0] != whole)) {
      return ir::kNoValue;
    }
    whole = slice.inputs[0];
    end += type(slice.output).shape[dim];
    if (end == type(whole).shape[dim]) {
      ++*count;
      return whole;
    }
  }
  return ir::kNoValue;
}

/// Values [N,C,L] that a convolution reads as a feature map are stored with the channels innermost.
ir::DimOrder Lowering::wanted_order(ValueId value) const {
  const ir::Shape& shape = type(value).shape;
  if (shape.size() != 3) return default_order(shape.size());
  for (const int user : consumers_[static_cast<size_t>(value)]) {
    const ir::Op& reader = graph_.ops()[static_cast<size_t>(user)];
    const ir::Shape& seen = type(reader.output).shape;
    if (reader.kind != OpKind::reshape || seen.size() != 4 || seen[1] != shape[1]) continue;
    for (const int next : consumers_[static_cast<size_t>(reader.output)]) {
      const OpKind kind = graph_.ops()[static_cast<size_t>(next)].kind;
      if (kind == OpKind::qconv2d || kind == OpKind::qconv2d16) return {0, 2, 1};
    }
  }
  return default_order(shape.size());
}

void Lowering::place_parts(const ir::Op& op, const View& place) {
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  int64_t start = 0;
  for (size_t i = 0; i < op.inputs.size();) {
    size_t parts = 0;
    const ValueId whole = split_value(op, i, &parts);
    if (whole != ir::kNoValue && may_be_placed(whole, false)) {
      const int64_t count = type(whole).shape[dim];
      places_[static_cast<size_t>(whole)] = sliced_view(place, dim, start, count);
      start += count;
      i += parts;
      continue;
    }
    const ValueId part = op.inputs[i++];
    const int64_t count = type(part).shape[dim];
    if (may_be_placed(part, false)) {
      places_[static_cast<size_t>(part)] = sliced_view(place, dim, start, count);
    }
    start += count;
  }
}

void Lowering::place_operands(const ir::Op& op) {
  std::optional<View>& place = places_[static_cast<size_t>(op.output)];
  const ValueId x = op.inputs[0];
  if (op.kind == OpKind::concat) {
    const ir::Type& whole = type(op.output);
    const auto element = element_of(whole.dtype);
    if (!element) return;
    if (!place) place = new_view(*element, whole.shape, wanted_order(op.output));
    place_parts(op, *place);
    return;
  }
  if (op.kind == OpKind::pad) {
    const auto element = element_of(type(op.output).dtype);
    if (!place && element) {
      place = new_view(*element, type(op.output).shape, wanted_order(op.output));
    }
    if (place && may_be_placed(x, true)) {
      View inside = *place;
      const auto& before = op.get(ir::attr::before);
      for (size_t i = 0; i < before.size(); ++i) {
        inside = sliced_view(inside, i, before[i], type(x).shape[i]);
      }
      places_[static_cast<size_t>(x)] = inside;
    }
    return;
  }
  if (!place || !may_be_placed(x, true)) return;
  if (op.kind == OpKind::permute) {
    const auto& dims = op.get(ir::attr::dims);
    std::vector<int64_t> inverse(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      inverse[static_cast<size_t>(dims[i])] = static_cast<int64_t>(i);
    }
    places_[static_cast<size_t>(x)] = permuted_view(*place, inverse);
  } else if (op.kind == OpKind::reshape) {
    places_[static_cast<size_t>(x)] = reshaped_view(*place, type(x).shape);
  } else if (op.kind == OpKind::copy ||
             ((op.kind == OpKind::lut || op.kind == OpKind::lut16) && fusable(op))) {
    places_[static_cast<size_t>(x)] = *place;
  }
}

Status Lowering::choose_places() {
  THIMBLE_CHECK(add_outputs());
  for (size_t i = graph_.ops().size(); i-- > 0;) {
    ir_op_ = static_cast<int>(i);
    place_operands(graph_.ops()[i]);
  }
  ir_op_ = -1;
  return ok();
}

Status Lowering::lower_op(const ir::Op& op) {
  const Handler handler = handler_of(op.kind);
  if (handler == nullptr) return unsupported("no NPU generation supports the operator");
  pushed_.clear();
  operand_in_place_ = false;
  THIMBLE_TRY(View view, (this->*handler)(op));
  const std::optional<View>& place = places_[static_cast<size_t>(op.output)];
  const bool there = !place || nearest_x2_one_axis_.contains(op.output) || same_place(*place, view);
  std::vector<size_t>& writers = writers_[static_cast<size_t>(op.output)];
  for (const size_t i : pushed_) {
    const bool writes = program_.ops[i].ofm.tensor == view.tensor;
    if (writes && !operand_in_place_) writers.push_back(i);
  }
  if (!there) {
    THIMBLE_CHECK(copy(*place, view));
    view = *place;
    writers.clear();
  }
  view.zero_point = 0;
  views_[static_cast<size_t>(op.output)] = view;
  return ok();
}

Status Lowering::finish_outputs() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId id = graph_.outputs()[i];
    THIMBLE_TRY(View view, read(id));
    const int tensor = program_.outputs[i];
    if (view.tensor == tensor) continue;
    ir::DimOrder order = graph_.type(id).dim_order;
    const NpuTensor& output = program_.tensors[static_cast<size_t>(tensor)];
    THIMBLE_CHECK(copy(dense_view(tensor, output.element, view.shape, order), view));
  }
  return ok();
}

namespace {

/// Returns true if the operand is the whole tensor or a slice aligned to bricks of 16 channels.
bool natural(const Operand& operand, const NpuTensor& tensor) {
  const Shape4& whole = tensor.shape;
  const Shape4& part = operand.shape;
  if (!(operand.element == tensor.element) || operand.stride_c != 1) return false;
  if (part.w > 1 && operand.stride_w != whole.c) return false;
  if (part.h > 1 && operand.stride_h != whole.w * whole.c) return false;
  const int64_t c = operand.offset % whole.c;
  const int64_t x = operand.offset / whole.c % whole.w;
  const int64_t y = operand.offset / whole.c / whole.w;
  if (c % 16 != 0 || (part.c % 16 != 0 && c + part.c != whole.c)) return false;
  return c + part.c <= whole.c && x + part.w <= whole.w && y + part.h <= whole.h;
}

}  // namespace

void Lowering::mark_linear() {
  for (NpuTensor& tensor : program_.tensors) {
    tensor.linear = tensor.role != TensorRole::kIntermediate;
  }
  const auto see = [&](const Operand& operand) {
    NpuTensor& tensor = program_.tensors[static_cast<size_t>(operand.tensor)];
    if (!natural(operand, tensor)) tensor.linear = true;
  };
  for (const NpuOp& op : program_.ops) {
    see(op.ifm);
    see(op.ofm);
    if (op.ifm2) see(*op.ifm2);
    // REDUCE_SUM and CONV with dynamic weights require NHWC operands.
    const bool reduces = op.kind == NpuOpKind::kPool && op.pool == PoolMode::kReduceSum;
    if (reduces || (op.kind == NpuOpKind::kConv && op.ifm2)) {
      program_.tensors[static_cast<size_t>(op.ifm.tensor)].linear = true;
      if (op.ifm2) program_.tensors[static_cast<size_t>(op.ifm2->tensor)].linear = true;
    }
  }
}

/// Removes tensors that no operation uses.
void Lowering::drop_unused() {
  std::vector<int> number(program_.tensors.size(), -1);
  const auto see = [&](int tensor) { number[static_cast<size_t>(tensor)] = 0; };
  for (const NpuOp& op : program_.ops) {
    see(op.ifm.tensor);
    see(op.ofm.tensor);
    if (op.ifm2) see(op.ifm2->tensor);
  }
  for (const int tensor : program_.inputs) see(tensor);
  for (const int tensor : program_.outputs) see(tensor);
  std::vector<NpuTensor> kept;
  for (size_t i = 0; i < number.size(); ++i) {
    if (number[i] < 0) continue;
    number[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(program_.tensors[i]));
  }
  program_.tensors = std::move(kept);
  const auto renumber = [&](int* tensor) { *tensor = number[static_cast<size_t>(*tensor)]; };
  for (NpuOp& op : program_.ops) {
    renumber(&op.ifm.tensor);
    renumber(&op.ofm.tensor);
    if (op.ifm2) renumber(&op.ifm2->tensor);
  }
  for (int& tensor : program_.inputs) renumber(&tensor);
  for (int& tensor : program_.outputs) renumber(&tensor);
}

Result<NpuProgram> Lowering::run() {
  THIMBLE_CHECK(add_inputs());
  THIMBLE_CHECK(choose_places());
  for (size_t i = 0; i < graph_.ops().size(); ++i) {
    ir_op_ = static_cast<int>(i);
    const ir::Op& op = graph_.ops()[i];
    Status status = lower_op(op);
    if (status.ok()) continue;
    Error error = status.error();
    const std::string where = op.source.where();
    error.message = std::string(where) + (where.empty() ? "" : ": ") +
                    std::string(ir::op_name(op.kind)) + " on " + config_.name + ": " +
                    error.message;
    return error;
  }
  ir_op_ = static_cast<int>(graph_.ops().size()) - 1;
  THIMBLE_CHECK(finish_outputs());
  fuse_transpositions(&program_);
  drop_unused();
  mark_linear();
  return std::move(program_);
}

Result<NpuProgram> lower(const ir::Graph& subgraph, const Config& config) {
  return Lowering(subgraph, config).run();
}

}  // namespace thimble::engine::ethos_u
