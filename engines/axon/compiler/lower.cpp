// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/lower.h"

#include <algorithm>

#include "base/bytes.h"
#include "engines/axon/compiler/cost.h"
#include "engines/axon/compiler/limits.h"
#include "engines/axon/compiler/lowering.h"

namespace thimble::engine::axon {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

int32_t zero_point_of(const ir::Type& type) {
  return type.quant && type.quant->axis < 0 ? type.quant->zero_point[0] : 0;
}

bool is_view_op(const Op& op) {
  return op.kind == OpKind::reshape || (op.kind == OpKind::copy && op.get(ir::attr::own) == 0);
}

}  // namespace

Result<Network> Lowering::run() {
  THIMBLE_CHECK(add_inputs());
  for (size_t i = 0; i < graph_.ops().size(); ++i) {
    const Op& op = graph_.ops()[i];
    op_ = static_cast<int>(i);
    const Status added = add_op(op);
    if (added.ok()) continue;
    return prefixed(ir::op_name(op.kind), added.error());
  }
  THIMBLE_CHECK(add_outputs());
  if (net_.layers.empty()) return unsupported("the subgraph computes nothing");
  if (net_.layers.size() > container::kLayersMax) {
    return unsupported("{} layers, expected at most {}", net_.layers.size(), container::kLayersMax);
  }
  return std::move(net_);
}

/// The largest input becomes the external input; the vendor's tools support only one. The other
/// inputs are copied to variables.
Status Lowering::add_inputs() {
  const std::vector<ValueId>& inputs = graph_.inputs();
  if (inputs.size() > container::kInputsMax) {
    return unsupported("{} inputs, expected at most {}", inputs.size(), container::kInputsMax);
  }
  const auto is_state = [&](size_t input) {
    return std::ranges::any_of(states_, [&](const StatePair& s) { return s.input == input; });
  };
  size_t external = inputs.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_state(i)) continue;
    const bool larger = external == inputs.size() ||
                        graph_.type(inputs[i]).bytes() > graph_.type(inputs[external]).bytes();
    if (larger) external = i;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type& type = graph_.type(inputs[i]);
    if (type.dtype != ir::DType::kI8 && type.dtype != ir::DType::kI16) {
      return unsupported("input {} is {}, expected i8 or i16", i, ir::dtype_name(type.dtype));
    }
    THIMBLE_TRY(const Dims dims, dims_of(inputs[i]));
    BufferView map;
    map.dims = dims;
    map.element_bytes = static_cast<int64_t>(ir::dtype_bytes(type.dtype));
    map.row_stride = map.row_bytes();
    map.zero_point = zero_point_of(type);
    map.buffer = static_cast<int>(net_.buffers.size());
    NetworkIo edge;
    edge.scale = type.quant && type.quant->axis < 0 ? type.quant->scale[0] : 1;
    if (i == external) {
      net_.buffers.push_back({Source::kExternal, static_cast<int>(i), 0, 0, {0, 0}});
    } else {
      edge.variable = static_cast<int>(net_.variables.size());
      map.row_stride = padded_row(map.row_bytes());
      const int64_t bytes = dims.c * dims.h * map.row_stride;
      net_.buffers.push_back({Source::kPersistent, edge.variable, bytes, 0, {0, 0}});
      net_.variables.push_back({map.buffer, map.element_bytes, map.zero_point});
    }
    edge.map = map;
    set(inputs[i], map);
    net_.inputs.push_back(edge);
  }
  return ok();
}

Status Lowering::assign_variable(const StatePair& state, const BufferView& content) {
  const NetworkIo& input = net_.inputs[state.input];
  Layer layer;
  layer.operation = Operation::kVariableAssign;
  BufferView to = input.map;
  to.zero_point = content.zero_point;
  layer.inputs = {content};
  layer.inputs[0].dims = to.dims;  // contiguous elements in the same order
  layer.output = to;
  THIMBLE_TRY(net_.outputs[state.output].map, append(std::move(layer)));
  net_.outputs[state.output].variable = input.variable;
  return ok();
}

Status Lowering::add_outputs() {
  if (graph_.outputs().size() > container::kOutputsMax) {
    return unsupported("{} outputs, expected at most {}", graph_.outputs().size(),
                       container::kOutputsMax);
  }
  for (const ValueId id : graph_.outputs()) {
    const ir::Type& type = graph_.type(id);
    THIMBLE_TRY(BufferView map, flat(id));
    // An output that no layer writes to an interlayer buffer is copied.
    const bool interlayer =
        net_.buffers[static_cast<size_t>(map.buffer)].source == Source::kInterlayer;
    if (!interlayer || map.producer < 0) {
      THIMBLE_TRY(map, copied(map));
    }
    NetworkIo edge;
    edge.map = map;
    edge.scale = type.quant && type.quant->axis < 0 ? type.quant->scale[0] : 1;
    net_.outputs.push_back(edge);
  }
  for (const StatePair& state : states_) {
    THIMBLE_TRY(const BufferView content, raw(graph_.outputs()[state.output]));
    const Dims dims = net_.inputs[state.input].map.dims;
    BufferView same = content;
    if (same.dims != dims) {
      THIMBLE_TRY(same, reshaped(content, dims));
    }
    THIMBLE_CHECK(assign_variable(state, same));
  }
  return ok();
}

Status Lowering::add_op(const Op& op) {
  switch (op.kind) {
    case OpKind::qlinear:
      return linear(op);
    case OpKind::qconv2d:
      return convolution(op);
    case OpKind::qadd:
    case OpKind::qmul:
      return pair(op);
    case OpKind::qmean:
      return mean(op);
    case OpKind::qavg_pool2d:
    case OpKind::max_pool2d:
      return pool(op);
    case OpKind::qsigmoid12:
    case OpKind::qtanh12:
      return curve(op);
    case OpKind::qsoftmax12:
      return softmax(op);
    case OpKind::concat:
      return concat(op);
    case OpKind::slice:
      return slice(op);
    case OpKind::pad:
      return pad(op);
    case OpKind::copy:
    case OpKind::reshape:
      return ok();  // map() and flat() skip these operators
    default:
      return unsupported("not in the NPU's arithmetic");
  }
}

// --- values ------------------------------------------------------------------------------------

const Op* Lowering::producer(ValueId id) const {
  const int index = producers_[ir::index_of(id)];
  return index < 0 ? nullptr : &graph_.ops()[static_cast<size_t>(index)];
}

Result<Dims> Lowering::dims_of(ValueId id) const {
  const ir::Shape& shape = graph_.type(id).shape;
  ir::Shape last = {1, 1, 1};
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t from_end = shape.size() - i;
    if (from_end <= 3) {
      last[3 - from_end] = shape[i];
    } else if (shape[i] != 1) {
      return unsupported("%{} is {}: the NPU supports batch 1 only", graph_.value(id).name,
                         ir::list_text(shape));
    }
  }
  return Dims{last[0], last[1], last[2]};
}

std::optional<Axis> Lowering::axis_of(ValueId id, int64_t dim) const {
  const int64_t from_end = static_cast<int64_t>(graph_.type(id).shape.size()) - dim;
  if (from_end == 3) return Axis::kChannel;
  if (from_end == 2) return Axis::kHeight;
  if (from_end == 1) return Axis::kWidth;
  return std::nullopt;
}

Result<BufferView> Lowering::raw(ValueId id) {
  if (!maps_[ir::index_of(id)]) {
    if (graph_.value(id).constant) return constant(id);
    const Op* op = producer(id);
    assert(op != nullptr && is_view_op(*op) && "a value is read before its layer");
    return raw(op->inputs[0]);
  }
  return *maps_[ir::index_of(id)];
}

Result<BufferView> Lowering::flat(ValueId id) {
  return raw(id);
}

Result<BufferView> Lowering::map(ValueId id) {
  THIMBLE_TRY(const BufferView from, raw(id));
  THIMBLE_TRY(const Dims dims, dims_of(id));
  if (from.dims == dims) return from;
  THIMBLE_TRY(const BufferView made, reshaped(from, dims));
  set(id, made);
  return made;
}

/// Reshapes in place if the rows stay the same or are contiguous; otherwise copies.
Result<BufferView> Lowering::reshaped(const BufferView& from, const Dims& dims) {
  if (from.dims == dims) return from;
  BufferView to = from;
  to.dims = dims;
  const bool same_rows = dims.w == from.dims.w;
  const bool written = net_.buffers[static_cast<size_t>(from.buffer)].source == Source::kInterlayer;
  const bool dense = from.dense() && (!written || to.row_bytes() % container::kRowAlignment == 0 ||
                                      dims.c * dims.h == 1);
  if (!same_rows && dense) to.row_stride = to.row_bytes();
  if (same_rows || dense) {
    if (!written) return to;
  } else {
    to = new_map(dims, from.element_bytes, from.zero_point);
  }
  Layer layer;
  layer.operation = Operation::kReshape;
  layer.inputs = {from};
  layer.output = to;
  return append(std::move(layer));
}

Result<BufferView> Lowering::constant(ValueId id) {
  const ir::Value& value = graph_.value(id);
  if (value.type.dtype != ir::DType::kI8) {
    return unsupported("constant %{} is {}, expected i8", value.name,
                       ir::dtype_name(value.type.dtype));
  }
  THIMBLE_TRY(const Dims dims, dims_of(id));
  BufferView map;
  map.dims = dims;
  map.row_stride = map.row_bytes();
  map.zero_point = zero_point_of(value.type);
  map.buffer = static_cast<int>(net_.buffers.size());
  align_size(net_.constants, container::kSectionAlignment);
  net_.buffers.push_back(
      {Source::kConstant, 0, 0, static_cast<int64_t>(net_.constants.size()), {0, 0}});
  net_.constants.insert(net_.constants.end(), value.constant->bytes.begin(),
                        value.constant->bytes.end());
  set(id, map);
  return map;
}

BufferView Lowering::new_map(const Dims& dims, int64_t element_bytes, int64_t zero_point) {
  BufferView map;
  map.dims = dims;
  map.element_bytes = element_bytes;
  map.row_stride = padded_row(map.row_bytes());
  map.zero_point = static_cast<int32_t>(zero_point);
  map.buffer = static_cast<int>(net_.buffers.size());
  net_.buffers.push_back({Source::kInterlayer, 0, dims.c * dims.h * map.row_stride, 0, {0, 0}});
  return map;
}

BufferView Lowering::result_of(const Op& op, const Dims& dims) {
  return new_map(dims, op.get(ir::attr::bytes), op.get(ir::attr::y_zp));
}

// --- layers ------------------------------------------------------------------------------------

Result<BufferView> Lowering::append(Layer layer) {
  THIMBLE_CHECK(check_limits(layer));
  layer.cycles = cycles_of(layer);
  layer.ir_op = op_;
  layer.scale = scale_of(op_);
  layer.output.producer = static_cast<int>(net_.layers.size());
  net_.layers.push_back(std::move(layer));
  return net_.layers.back().output;
}

Status Lowering::append_result(const Op& op, Layer layer) {
  THIMBLE_TRY(const BufferView output, append(std::move(layer)));
  set(op.output, output);
  return ok();
}

/// Returns the scale of the operator's result; 0 if unknown.
double Lowering::scale_of(int op) const {
  if (op < 0 || static_cast<size_t>(op) >= graph_.ops().size()) return 0;
  const auto& quant = graph_.type(graph_.ops()[static_cast<size_t>(op)].output).quant;
  return quant && quant->axis < 0 ? quant->scale[0] : 0;
}

bool Lowering::feeds_softmax(ValueId id) const {
  return std::ranges::any_of(graph_.ops(), [&](const Op& op) {
    return op.kind == OpKind::qsoftmax12 && op.inputs[0] == id;
  });
}

/// The NPU clamps at the zero point (relu) or not at all; other bounds are unsupported.
Status Lowering::check_bounds(const Op& op) const {
  if (op.get(ir::attr::bytes) != 1) return ok();
  const int64_t low = op.get(ir::attr::min), high = op.get(ir::attr::max),
                zero = op.get(ir::attr::y_zp);
  if (low != -128 && low != zero) {
    return unsupported("a lower bound of {}; supported: -128 or the zero point {}", low, zero);
  }
  if (high != 127) {
    return unsupported(
        "an upper bound of {}; only 127 is supported (quantize the value with its own range)",
        high);
  }
  return ok();
}

void Lowering::set_requantize(const Op& op, Layer* layer) {
  const bool relu = op.get(ir::attr::bytes) == 1 && op.get(ir::attr::min) != -128;
  if (relu) layer->activation = Activation::kRelu;
}

std::optional<int64_t> outer_offset(const BufferView& whole, Axis axis, int64_t begin) {
  const Dims& d = whole.dims;
  switch (axis) {
    case Axis::kChannel:
      return begin * d.h * whole.row_stride;
    case Axis::kHeight:
      return d.c == 1 ? std::optional(begin * whole.row_stride) : std::nullopt;
    case Axis::kWidth:
      return d.c * d.h == 1 ? std::optional(begin * whole.element_bytes) : std::nullopt;
  }
  return std::nullopt;
}

Result<Network> lower(const ir::Graph& subgraph, std::span<const StatePair> states) {
  return Lowering(subgraph, states).run();
}

}  // namespace thimble::engine::axon
