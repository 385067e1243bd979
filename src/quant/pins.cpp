// SPDX-License-Identifier: Apache-2.0
#include "quant/pins.h"

#include <algorithm>
#include <tuple>

#include "passes/uses.h"
#include "quant/assign.h"
#include "quant/plan.h"
#include "quant/rules/rules.h"

namespace thimble::quant {
namespace {

using ir::DType;
using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

bool is_dequantize(OpKind kind) {
  return kind == OpKind::dequantize || kind == OpKind::dequantize_channels;
}

/// Returns true if operand and result can share parameters. Averages round, so their operand cannot
/// have the parameters of their result.
bool keeps_values(OpKind kind) {
  return shares_params(kind) && !has_trait(kind, trait::kClamp) && kind != OpKind::resize_bilinear;
}

/// Returns the offset that converts quantized values of this type to int8.
int32_t offset_of(DType dtype) {
  return dtype == DType::kU8 ? -128 : 0;
}

Params params_of(const Op& quantize, DType dtype) {
  const int32_t offset = offset_of(dtype);
  Params params;
  params.scale = static_cast<double>(static_cast<float>(quantize.get(ir::attr::scale)));
  params.zero_point = static_cast<int32_t>(quantize.get(ir::attr::zero_point)) + offset;
  params.min = static_cast<int32_t>(quantize.get(ir::attr::min)) + offset;
  params.max = static_cast<int32_t>(quantize.get(ir::attr::max)) + offset;
  params.wide = dtype == DType::kI16;
  return params;
}

class ParameterExtractor {
 public:
  explicit ParameterExtractor(const Graph& from) : from_(from), uses_(from) {
    to_.name = from.name;
    new_of_.resize(from.value_count(), ir::kNoValue);
  }

  Result<PinnedGraph> run() {
    for (const ValueId id : from_.inputs()) {
      const ir::Value& value = from_.value(id);
      track(id, to_.add_input(value.name, value.type), ir::kNoValue);
    }
    for (const Op& op : from_.ops()) {
      auto status = strip(op);
      if (!status.ok()) return located(op, status.error());
    }
    for (const ValueId id : from_.outputs()) {
      if (stands_for(id) != nullptr) {
        return unsupported(
            "output {} is {}; end the graph with dequantize, and use --io int8 for int8 outputs",
            from_.value(id).name, ir::dtype_name(from_.type(id).dtype));
      }
      to_.add_output(mapped(id));
    }
    Pins pins;
    pins.params.resize(to_.value_count());
    for (size_t i = 0; i < pins.params.size(); ++i) {
      pins.params[i] = pin_[root(static_cast<ValueId>(i))];
    }
    pins.constants = std::move(constants_);
    pins.quantized = std::move(quantized_);
    return PinnedGraph{std::move(to_), std::move(pins), std::move(new_of_)};
  }

 private:
  /// Adds a source line to the error. A quantize operator has none, so that of its producer is
  /// used.
  Error located(const Op& op, const Error& error) const {
    const Op* shown = &op;
    while (shown->source.where().empty() && !shown->inputs.empty()) {
      const Op* before = uses_.producer(shown->inputs[0]);
      if (before == nullptr) break;
      shown = before;
    }
    const std::string where = shown->source.where();
    if (where.empty()) {
      return {error.kind, fmt::format("{}: {}", from_.value(op.output).name, error.message)};
    }
    return {error.kind, fmt::format("{}: {}: {}", where, shown->source.target, error.message)};
  }

  // --- values of the new graph, in classes that share parameters

  void grow() {
    while (class_.size() < to_.value_count()) {
      class_.push_back(class_.size());
      pin_.emplace_back();
      origin_.push_back(ir::kNoValue);
    }
  }
  /// Maps `old` to `made`. If `source` is given, `made` shares its parameters.
  void track(ValueId old, ValueId made, ValueId source) {
    grow();
    new_of_[static_cast<size_t>(old)] = made;
    origin_[static_cast<size_t>(made)] = old;
    if (source != ir::kNoValue) class_[static_cast<size_t>(made)] = root(source);
  }
  [[nodiscard]] size_t root(ValueId id) const {
    size_t at = static_cast<size_t>(id);
    while (class_[at] != at) at = class_[at];
    return at;
  }
  /// Returns the new value. Constants are copied at their first use.
  ValueId mapped(ValueId old) {
    if (old == ir::kNoValue) return old;
    ValueId& id = new_of_[static_cast<size_t>(old)];
    const ir::Value& value = from_.value(old);
    if (id == ir::kNoValue && value.constant != nullptr) {
      id = to_.add_constant(value.name, value.constant, value.type.quant);
      grow();
      origin_[static_cast<size_t>(id)] = old;
    }
    return id;
  }
  /// Returns the quantization parameters of a quantized value; null for other integers.
  [[nodiscard]] const ir::Quant* stands_for(ValueId old) const {
    const ir::Type& type = from_.type(old);
    return type.dtype != DType::kF32 && type.quant ? &*type.quant : nullptr;
  }

  // --- operators

  Status strip(const Op& op) {
    if (op.kind == OpKind::quantize) return strip_quantize(op);
    if (is_dequantize(op.kind)) return strip_dequantize(op);
    std::vector<ValueId> inputs;
    bool moves_codes = false;
    for (const ValueId id : op.inputs) {
      inputs.push_back(mapped(id));
      moves_codes = moves_codes || (id != ir::kNoValue && stands_for(id) != nullptr);
    }
    ir::Attrs attrs = op.attrs;
    if (moves_codes) THIMBLE_CHECK(as_real(op, attrs));
    const ir::Value& result = from_.value(op.output);
    THIMBLE_TRY(const ValueId id, to_.add(op.kind, inputs, attrs, op.source,
                                          {result.name, result.type.dim_order, {}}));
    track(op.output, id, shares_params(op.kind) ? inputs[0] : ir::kNoValue);
    if (joins_params(op.kind)) pin_[root(id)] = joint_pin(inputs);
    return ok();
  }

  /// Converts data movement on quantized values to data movement on real numbers.
  Status as_real(const Op& op, ir::Attrs& attrs) {
    if (!shares_params(op.kind) && !joins_params(op.kind)) {
      return unsupported("arithmetic on quantized values");
    }
    const ir::Quant* result = stands_for(op.output);
    if (result == nullptr) return unsupported("quantized values with different parameters");
    if (op.kind == OpKind::pad) {
      attrs.set(ir::attr::value,
                result->scale[0] * (op.get(ir::attr::value) - result->zero_point[0]));
    }
    return ok();
  }

  /// Returns the parameters if all operands have the same ones.
  std::optional<Params> joint_pin(const std::vector<ValueId>& inputs) {
    std::optional<Params> all;
    for (const ValueId id : inputs) {
      if (id == ir::kNoValue || to_.type(id).dtype != DType::kF32) continue;
      const auto& pin = pin_[root(id)];
      if (!pin || (all && *all != *pin)) return std::nullopt;
      all = pin;
    }
    return all;
  }

  Status strip_quantize(const Op& op) {
    const DType dtype = from_.type(op.output).dtype;
    const Params wanted = params_of(op, dtype);
    if (wanted.wide && wanted.zero_point != 0) {
      return unsupported("a 16-bit activation with zero point {}, expected 0", wanted.zero_point);
    }
    const ValueId x = mapped(op.inputs[0]);
    quantized_.insert(x);
    std::optional<Params>& pin = pin_[root(x)];
    if (!pin && can_pin(x, wanted)) pin = wanted;
    if (pin && *pin == wanted) {
      new_of_[static_cast<size_t>(op.output)] = x;
      return ok();
    }
    const auto key =
        std::tuple(x, wanted.scale, wanted.zero_point, wanted.min, wanted.max, wanted.wide);
    const auto known = requantized_.find(key);
    if (known != requantized_.end()) {
      new_of_[static_cast<size_t>(op.output)] = known->second;
      return ok();
    }
    const ir::Value& result = from_.value(op.output);
    THIMBLE_TRY(const ValueId id, to_.add(OpKind::clamp, {x}, {}, op.source,
                                          {result.name, result.type.dim_order, {}}));
    track(op.output, id, ir::kNoValue);
    pin_[root(id)] = wanted;
    requantized_[key] = id;
    return ok();
  }

  /// Returns true if the value, and all values that it is a movement of, can have the parameters
  /// `wanted`. Returns false if one of them has another reader, if the chain has arithmetic, or if
  /// the first operator fixes other parameters.
  [[nodiscard]] bool can_pin(ValueId id, const Params& wanted) const {
    const auto producers = to_.producers();
    while (producers[static_cast<size_t>(id)] >= 0) {
      const Op& op = to_.ops()[static_cast<size_t>(producers[static_cast<size_t>(id)])];
      if (!shares_params(op.kind)) {
        const auto fixed = has_trait(op.kind, trait::kTable) ? std::nullopt : fixed_params(op);
        return !fixed || *fixed == wanted;
      }
      id = op.inputs[0];
      const ValueId old = origin_[static_cast<size_t>(id)];
      if (!keeps_values(op.kind) || old == ir::kNoValue || uses_.only_reader(old) == nullptr) {
        return false;
      }
    }
    return true;
  }

  Status strip_dequantize(const Op& op) {
    const ValueId x = op.inputs[0];
    const ir::Value& value = from_.value(x);
    if (value.constant != nullptr) return strip_constant(op, value);
    const ir::Quant* quant = stands_for(x);
    if (quant == nullptr || from_.is_input(x)) {
      return unsupported(
          "input {} is {}; export with a float32 input, and use --io int8 for int8 inputs",
          value.name, ir::dtype_name(value.type.dtype));
    }
    if (static_cast<float>(quant->scale[0]) != static_cast<float>(op.get(ir::attr::scale)) ||
        quant->zero_point[0] != op.get(ir::attr::zero_point)) {
      return unsupported("the parameters of dequantize differ from those of quantize");
    }
    new_of_[static_cast<size_t>(op.output)] = mapped(x);
    return ok();
  }

  /// Adds the constant as real numbers and records its quantized values in `constants_`.
  Status strip_constant(const Op& op, const ir::Value& value) {
    QuantizedConstant codes;
    const int32_t offset = offset_of(value.type.dtype);
    if (op.kind == OpKind::dequantize) {
      codes.scale = {static_cast<double>(static_cast<float>(op.get(ir::attr::scale)))};
      codes.zero_point = {static_cast<int32_t>(op.get(ir::attr::zero_point)) + offset};
    } else {
      codes.axis = op.get(ir::attr::axis);
      for (const float scale : from_.value(op.inputs[1]).constant->data<float>()) {
        codes.scale.push_back(static_cast<double>(scale));
      }
      codes.zero_point.assign(codes.scale.size(), offset);
      if (op.inputs[2] != ir::kNoValue) {
        const auto points = from_.value(op.inputs[2]).constant->data<int32_t>();
        for (size_t c = 0; c < points.size(); ++c) codes.zero_point[c] += points[c];
      }
    }
    codes.codes = as_signed(value.constant);
    const ir::Value& result = from_.value(op.output);
    const ValueId id = to_.add_constant(result.name, real_constant(codes));
    track(op.output, id, ir::kNoValue);
    if (codes.axis < 0 && codes.codes->dtype == DType::kI16 && codes.zero_point[0] == 0) {
      pin_[root(id)] = Params{codes.scale[0], 0, false, INT16_MIN, INT16_MAX, true};
    } else if (codes.axis < 0 && codes.codes->dtype == DType::kI8) {
      pin_[root(id)] = Params{codes.scale[0], codes.zero_point[0]};
    }
    constants_[id] = std::move(codes);
    return ok();
  }

  static ir::TensorPtr as_signed(const ir::TensorPtr& tensor) {
    if (tensor->dtype != DType::kU8) return tensor;
    auto moved = std::make_shared<ir::Tensor>(*tensor);
    moved->dtype = DType::kI8;
    for (int8_t& code : moved->data<int8_t>()) {
      code = static_cast<int8_t>(static_cast<uint8_t>(code) - 128);
    }
    return moved;
  }

  static ir::TensorPtr real_constant(const QuantizedConstant& codes) {
    auto real = std::make_shared<ir::Tensor>(ir::zeros(DType::kF32, codes.codes->shape));
    const auto values = real->data<float>();
    size_t inner = 1;
    for (size_t dim = codes.codes->shape.size(); codes.axis >= 0 && dim-- > 0;) {
      if (static_cast<int64_t>(dim) == codes.axis) break;
      inner *= static_cast<size_t>(codes.codes->shape[dim]);
    }
    const auto fill = [&](auto data) {
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t c = codes.axis < 0 ? 0 : i / inner % codes.scale.size();
        const int64_t difference = int64_t{data[i]} - codes.zero_point[c];
        values[i] = static_cast<float>(difference) * static_cast<float>(codes.scale[c]);
      }
    };
    switch (codes.codes->dtype) {
      case DType::kI16:
        fill(codes.codes->data<int16_t>());
        break;
      case DType::kI32:
        fill(codes.codes->data<int32_t>());
        break;
      default:
        fill(codes.codes->data<int8_t>());
    }
    return real;
  }

  const Graph& from_;
  const passes::Uses uses_;
  Graph to_;
  std::vector<ValueId> new_of_;             // new value, by old value
  std::vector<size_t> class_;               // by new value: another value of its class, or itself
  std::vector<std::optional<Params>> pin_;  // by class root
  std::vector<ValueId> origin_;             // old value, by new value
  std::map<ValueId, QuantizedConstant> constants_;
  std::set<ValueId> quantized_;
  std::map<std::tuple<ValueId, double, int32_t, int32_t, int32_t, bool>, ValueId> requantized_;
};

}  // namespace

bool is_prequantized(const Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const Op& op) {
    return op.kind == OpKind::quantize || is_dequantize(op.kind);
  });
}

Result<PinnedGraph> extract_pins(const Graph& graph) {
  return ParameterExtractor(graph).run();
}

}  // namespace thimble::quant
