// SPDX-License-Identifier: Apache-2.0
#include "interchange/tflite.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "formats/tflite/write.h"
#include "interchange/tflite/tflite_lowering.h"

namespace thimble::interchange {

using formats::tflite::Activation;
using formats::tflite::DType;
using ir::DimOrder;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

namespace {

std::optional<DType> tflite_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kI8:
      return DType::kInt8;
    case ir::DType::kI16:
      return DType::kInt16;
    case ir::DType::kI32:
      return DType::kInt32;
    case ir::DType::kI64:
      return DType::kInt64;
    case ir::DType::kBool:
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

}  // namespace

numerics::Multiplier litert_multiplier(double real) {
  return numerics::quantize_multiplier(real);
}

Result<Bytes> to_tflite(const ir::Graph& graph, const TfliteProfile& profile) {
  THIMBLE_TRY(const StatelessGraph core, extract_integer_graph(graph));
  return TfliteLowering(core, profile).run();
}

Result<Bytes> TfliteLowering::run() {
  model_.name = graph_.name;
  for (const ValueId input : graph_.inputs()) {
    const ir::Value& value = graph_.value(input);
    const auto type = tflite_type(value.type.dtype);
    if (!type) {
      return unsupported("input {}: {} cannot be represented in LiteRT's integer operators",
                         value.name, ir::dtype_name(value.type.dtype));
    }
    DimOrder order = Layouts::io_order(value.type);
    const int tensor = make(Layouts::in_order(value.type.shape, order), *type);
    at(tensor).name = value.name;
    set_quant(tensor, value.type);
    model_.inputs.push_back(tensor);
    layouts_.put(input, std::move(order), tensor);
  }
  for (const ir::Op& op : graph_.ops()) {
    op_ = &op;
    THIMBLE_CHECK(lower());
  }
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    int tensor = layouts_.get(graph_.outputs()[i], source_.output_order[i]);
    const auto& inputs = model_.inputs;
    const bool input = std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
    const auto& outputs = model_.outputs;
    const bool twice = std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
    if (input || twice || !at(tensor).data.empty()) {
      const auto& old = at(tensor).shape;
      tensor = reshaped(tensor, Shape(old.begin(), old.end()));
    }
    model_.outputs.push_back(tensor);
  }
  name_tensors();
  return formats::tflite::write(model_);
}

/// Gives inputs and outputs the graph's names, regardless of which operator wrote the tensor, and
/// makes all tensor names unique.
void TfliteLowering::name_tensors() {
  for (size_t i = 0; i < model_.outputs.size(); ++i) {
    at(model_.outputs[i]).name = graph_.value(graph_.outputs()[i]).name;
  }
  std::set<std::string> taken;
  std::vector<int32_t> order = model_.inputs;
  order.insert(order.end(), model_.outputs.begin(), model_.outputs.end());
  for (size_t i = 0; i < model_.tensors.size(); ++i) order.push_back(static_cast<int32_t>(i));
  std::set<int32_t> named;
  for (const int32_t tensor : order) {
    if (!named.insert(tensor).second) continue;
    const std::string name = at(tensor).name;
    for (int number = 1; !taken.insert(at(tensor).name).second; ++number) {
      at(tensor).name = fmt::format("{}_{}", name, number);
    }
  }
}

Status TfliteLowering::lower_other() {
  switch (op_->kind) {
    case OpKind::qresize_bilinear:
      if (profile_.images) return resize_bilinear();
      return refuse("RESIZE_BILINEAR rounds halves away from 0");
    case OpKind::qgru:
    case OpKind::qlstm:
    case OpKind::qrnn:
      return refuse("LiteRT's recurrent layers use other formulas");
    case OpKind::qlayer_norm:
    case OpKind::qgroup_norm:
    case OpKind::qrms_norm:
    case OpKind::qvariance:
      return refuse("LiteRT has no integer operator that normalizes");
    default:
      return refuse("no integer operator of LiteRT computes it bit for bit");
  }
}

// --- accessors for the current operator ---------------------------------------------------------

Result<float> TfliteLowering::operand_scale(size_t i, ir::AttrKey<int64_t> zero_point_key) {
  const ir::Value& value = graph_.value(operand(i));
  if (!value.type.quant || value.type.quant->axis >= 0) {
    return refuse(fmt::format("operand {} has no per-tensor scale", value.name));
  }
  const int64_t wanted = zero_point(zero_point_key);
  if (value.type.quant->zero_point[0] != wanted) {
    return refuse(fmt::format("{} is {}, the zero point of {} is {}", ir::attr_name(zero_point_key),
                              wanted, value.name, value.type.quant->zero_point[0]));
  }
  return static_cast<float>(value.type.quant->scale[0]);
}

Result<float> TfliteLowering::result_scale() {
  const ir::Value& value = graph_.value(op_->output);
  if (!value.type.quant || value.type.quant->axis >= 0) return refuse("its result has no scale");
  if (value.type.quant->zero_point[0] != zero_point(ir::attr::y_zp)) {
    return refuse(fmt::format("y_zp is {}, the zero point of its result {}",
                              zero_point(ir::attr::y_zp), value.type.quant->zero_point[0]));
  }
  return static_cast<float>(value.type.quant->scale[0]);
}

Bounds TfliteLowering::bounds() const {
  const bool to_wide = graph_.type(op_->output).dtype == ir::DType::kI16;
  Bounds b{static_cast<int32_t>(zero_point(ir::attr::y_zp)), to_wide ? -32768 : -128,
           to_wide ? 32767 : 127};
  if (has_attr(ir::attr::min)) {
    b.min = static_cast<int32_t>(get(ir::attr::min));
    b.max = static_cast<int32_t>(get(ir::attr::max));
  }
  return b;
}

/// LiteRT aligns shapes at the last dimension, as the graph does. Equal rank is needed only if the
/// dimension order differs from the logical one.
int TfliteLowering::broadcastable(size_t i, const DimOrder& order) {
  const size_t rank = result_shape().size();
  if (shape(i).size() == rank) return operand_in(i, order);
  if (order == Layouts::logical(rank) || ir::element_count(shape(i)) == 1) return logical(i);
  const Shape padded = with_rank(shape(i), rank);
  const Shape wanted = Layouts::in_order(padded, order);
  if (ir::same_memory(padded, {}, order)) return reshaped(logical(i), wanted);
  return transposed(reshaped(logical(i), padded), {order.begin(), order.end()}, wanted);
}

// --- tensors and operators ---------------------------------------------------------------------

int TfliteLowering::make(const Shape& shape, DType type, const std::string& suffix) {
  const std::string name = op_ ? graph_.value(op_->output).name : "";
  model_.tensors.push_back({name + suffix, narrow(shape), type, {}, {}, 0, {}});
  return static_cast<int>(model_.tensors.size()) - 1;
}

void TfliteLowering::set_quant(int tensor, const ir::Type& type) {
  if (!type.quant || type.quant->axis >= 0) return;
  at(tensor).scale = {static_cast<float>(type.quant->scale[0])};
  at(tensor).zero_point = {type.quant->zero_point[0]};
}

int TfliteLowering::make_like(int like, const Shape& shape) {
  const int made = make(shape, at(like).type);
  at(made).scale = at(like).scale;
  at(made).zero_point = at(like).zero_point;
  return made;
}

int TfliteLowering::make_result(const Shape& shape) {
  const ir::Type& type = graph_.type(op_->output);
  const int made = make(shape, tflite_type(type.dtype).value_or(DType::kInt8));
  set_quant(made, type);
  return made;
}

int TfliteLowering::constants(const Shape& shape, const std::vector<int32_t>& values) {
  const auto [place, added] = shared_.emplace(std::pair(shape, values), 0);
  if (!added) return place->second;
  const int made = make(shape, DType::kInt32, ".of");
  for (const int32_t value : values) append_le(at(made).data, static_cast<uint32_t>(value));
  place->second = made;
  return made;
}

int TfliteLowering::scalar_like(int like, int64_t value) {
  const int made = make_like(like, {});
  at(made).name += ".code";
  if (at(like).type == DType::kInt8) append_le(at(made).data, static_cast<uint8_t>(value));
  if (at(like).type == DType::kInt16) append_le(at(made).data, static_cast<uint16_t>(value));
  if (at(like).type == DType::kInt32) append_le(at(made).data, static_cast<uint32_t>(value));
  if (at(like).type == DType::kInt64) append_le(at(made).data, static_cast<uint64_t>(value));
  if (at(like).type == DType::kBool) append_le(at(made).data, static_cast<uint8_t>(value));
  return made;
}

int TfliteLowering::emit(Op op, Options options, std::vector<int> inputs, int output) {
  model_.operators.push_back({op, std::move(options), std::move(inputs), {output}});
  return output;
}

int TfliteLowering::reshaped(int tensor, const Shape& shape) {
  const std::vector<int32_t> sizes = narrow(shape);
  const int list = constants({static_cast<int64_t>(sizes.size())}, sizes);
  return emit(Op::kReshape, formats::tflite::ReshapeOptions{sizes}, {tensor, list},
              make_like(tensor, shape));
}

int TfliteLowering::transposed(int tensor, const std::vector<int>& perms, const Shape& shape) {
  const int list = constants({static_cast<int64_t>(perms.size())}, {perms.begin(), perms.end()});
  return emit(Op::kTranspose, {}, {tensor, list}, make_like(tensor, shape));
}

int TfliteLowering::constant(const ir::Value& value, const DimOrder& order) {
  const int made = make(Layouts::in_order(value.type.shape, order),
                        tflite_type(value.type.dtype).value_or(DType::kInt8));
  at(made).name = value.name;
  at(made).data = ir::to_memory(*value.constant, order);
  set_quant(made, value.type);
  return made;
}

/// Returns the LiteRT activation whose bounds, in quantized values, equal min and max: RELU, RELU6,
/// RELU_N1_TO_1.
std::optional<Activation> TfliteLowering::activation(float scale) const {
  const Bounds b = bounds();
  const bool to_wide = graph_.type(op_->output).dtype == ir::DType::kI16;
  const int32_t lowest = to_wide ? -32768 : -128, highest = to_wide ? 32767 : 127;
  if (b.min <= lowest && b.max >= highest) return Activation::kNone;
  const auto code = [&](float real) {
    return b.zero_point + static_cast<int32_t>(std::round(real / scale));
  };
  const bool from_zero = b.min == std::max(lowest, code(0));
  if (from_zero && b.max >= highest) return Activation::kRelu;
  if (from_zero && b.max == std::min(highest, code(6))) return Activation::kRelu6;
  if (b.min == std::max(lowest, code(-1)) && b.max == std::min(highest, code(1))) {
    return Activation::kReluN1To1;
  }
  return std::nullopt;
}

TfliteLowering::ClampMethod TfliteLowering::clamp_method(float scale) const {
  const auto found = activation(scale);
  return {found.value_or(Activation::kNone), !found};
}

int TfliteLowering::clamped(int y) {
  const Bounds b = bounds();
  const auto& s = at(y).shape;
  const Shape shape(s.begin(), s.end());
  const int low = scalar_like(y, b.min);
  const int above = emit(Op::kMaximum, {}, {y, low}, make_like(y, shape));
  const int high = scalar_like(y, b.max);
  return emit(Op::kMinimum, {}, {above, high}, make_like(y, shape));
}

}  // namespace thimble::interchange
