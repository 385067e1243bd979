// SPDX-License-Identifier: Apache-2.0
#include "quant/lower.h"

#include <algorithm>
#include <cassert>

#include "ir/transposed_filters.h"
#include "numerics/int16.h"
#include "numerics/multiplier.h"
#include "quant/int4.h"
#include "quant/lowering.h"
#include "quant/rules/rules.h"
#include "quant/table.h"

namespace thimble::quant {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

size_t index(ValueId id) {
  return static_cast<size_t>(id);
}
ir::DType dtype_of(const Params& params) {
  return params.wide ? ir::DType::kI16 : ir::DType::kI8;
}
ir::TensorPtr tensor_codes(const ir::Tensor& real, const Params& params) {
  ir::Tensor codes = ir::zeros(dtype_of(params), real.shape);
  const auto values = real.data<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const int32_t code = params.code(static_cast<double>(values[i]));
    if (params.wide) {
      codes.data<int16_t>()[i] = static_cast<int16_t>(code);
    } else {
      codes.data<int8_t>()[i] = static_cast<int8_t>(code);
    }
  }
  return std::make_shared<ir::Tensor>(std::move(codes));
}
/// Returns the parameters with the full range of quantized values.
Params with_full_range(Params params) {
  params.min = params.wide ? INT16_MIN : INT8_MIN;
  params.max = params.wide ? INT16_MAX : INT8_MAX;
  return params;
}
/// Returns the parameters of the values of flip_sign, 0 to 255.
ir::Quant unsigned_quant(const Params& params) {
  return ir::per_tensor(params.scale, params.zero_point + 128);
}
bool is_output(const Graph& graph, ValueId id) {
  return std::ranges::find(graph.outputs(), id) != graph.outputs().end();
}

}  // namespace

Lowering::Lowering(const Graph& from, const Plan& plan, const Decisions& decisions,
                   const IoTypes& io)
    : from_(from), plan_(plan), decisions_(decisions), io_(io) {
  to_.name = from.name;
  codes_.resize(from.value_count(), ir::kNoValue);
  reals_.resize(from.value_count(), ir::kNoValue);
}

Result<LoweredGraph> Lowering::run() {
  lower_states();
  THIMBLE_CHECK(lower_inputs());
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Role role = plan_.ops[i].role;
    if (role == Role::kLower || role == Role::kTable) THIMBLE_CHECK(lower_op(i));
    if (role == Role::kFloat) THIMBLE_CHECK(lower_float(i));
  }
  THIMBLE_CHECK(lower_outputs());
  THIMBLE_CHECK(lower_updates());
  return LoweredGraph{std::move(to_), std::move(counterparts_)};
}

// --- inputs and outputs of the graph

Status Lowering::lower_inputs() {
  // Inputs are added first, so that they have the same order as in the float graph.
  for (const ValueId id : from_.inputs()) {
    const ir::Value& value = from_.value(id);
    ir::Type type = value.type;
    if (is_float(id) && io_of(id) != Io::kFloat) {
      const Params& params = params_of(id);
      type.dtype = io_of(id) == Io::kUint8 ? ir::DType::kU8 : dtype_of(params);
      type.quant = io_of(id) == Io::kUint8 ? unsigned_quant(params) : params.quant();
    }
    codes_[index(id)] = to_.add_input(value.name, type);
  }
  const auto consumers = from_.consumers();
  for (const ValueId id : from_.inputs()) {
    if (!is_float(id)) continue;
    const ir::Source source = source_of_input(consumers[index(id)]);
    if (io_of(id) != Io::kFloat) {
      THIMBLE_TRY(codes_[index(id)], integer_input(id, source));
      continue;
    }
    reals_[index(id)] = codes_[index(id)];
    if (only_float_readers(id, consumers[index(id)])) continue;
    if (!consumers[index(id)].empty() || is_output(from_, id)) {
      THIMBLE_TRY(codes_[index(id)], quantized(id, reals_[index(id)], source));
    }
  }
  return ok();
}

bool Lowering::only_float_readers(ValueId id, const std::vector<int>& readers) const {
  return !readers.empty() && !is_output(from_, id) &&
         std::ranges::none_of(from_.states(),
                              [&](const ir::State& state) { return state.next == id; }) &&
         std::ranges::all_of(readers, [this](int reader) {
           const Role role = plan_.ops[static_cast<size_t>(reader)].role;
           return role == Role::kFloat || role == Role::kObserved;
         });
}

/// Returns the int8 or int16 value of an input with an integer type.
Result<ValueId> Lowering::integer_input(ValueId id, const ir::Source& source) {
  const ir::Value& value = from_.value(id);
  const Params& params = params_of(id);
  const Io io = io_of(id);
  const bool fits = io == Io::kInt16 ? params.wide : io != Io::kUint8 || !params.wide;
  if (!fits) {
    return unsupported("--io {}=uint8 or int16: its quantized values have {} bits{}: use {}",
                       value.name, params.wide ? 16 : 8,
                       params.wide ? " (samples of a spectrum)" : "",
                       params.wide ? "int16 or float" : "int8, uint8 or float");
  }
  if (io != Io::kUint8) return codes_[index(id)];
  return to_.add(OpKind::flip_sign, {codes_[index(id)]}, {}, source,
                 {value.name + "_int8", value.type.dim_order, params.quant()});
}

Result<ValueId> Lowering::quantized(ValueId id, ValueId real, const ir::Source& source) {
  const ir::Value& value = from_.value(id);
  const Params& params = params_of(id);
  const Params all = with_full_range(params);
  ir::Attrs attrs{{ir::attr::scale, params.scale},
                  {ir::attr::zero_point, int64_t{params.zero_point}}};
  if (params.wide) {
    attrs.set(ir::attr::type, int64_t{2});
    attrs.set(ir::attr::min, int64_t{INT16_MIN});
    attrs.set(ir::attr::max, int64_t{INT16_MAX});
  }
  THIMBLE_TRY(const ValueId codes,
              to_.add(OpKind::quantize, {real}, attrs, source,
                      {value.name + (params.wide ? "_int16" : "_int8"), value.type.dim_order, {}}));
  if (params == all || params.wide) return codes;
  return add_table(codes, all, params, [](double x) { return x; }, {},
                   {value.name + "_limited", value.type.dim_order, params.quant()});
}

void Lowering::lower_states() {
  for (const ir::State& state : from_.states()) {
    const ir::Value& value = from_.value(state.value);
    const Params& params = params_of(state.value);
    const ValueId id =
        to_.add_state(value.name, tensor_codes(*state.initial, params), params.quant());
    to_.value(id).type.dim_order = value.type.dim_order;
    codes_[index(state.value)] = id;
  }
}

Status Lowering::lower_updates() {
  for (size_t i = 0; i < from_.states().size(); ++i) {
    const ir::State& state = from_.states()[i];
    THIMBLE_TRY(const ValueId next, codes(state.next, params_of(state.value)));
    to_.set_next(i, next);
  }
  return ok();
}

/// Reports cite the first operator that reads the input.
ir::Source Lowering::source_of_input(const std::vector<int>& readers) const {
  return readers.empty() ? ir::Source{} : from_.ops()[static_cast<size_t>(readers[0])].source;
}

Result<ValueId> Lowering::dequantized(ValueId id, const ir::Source& source) {
  const Params& params = params_of(id);
  THIMBLE_TRY(const ValueId value, codes(id, params));
  return to_.add(
      OpKind::dequantize, {value},
      {{ir::attr::scale, params.scale}, {ir::attr::zero_point, int64_t{params.zero_point}}}, source,
      {from_.value(id).name, from_.type(id).dim_order, {}});
}

Result<ValueId> Lowering::unsigned_output(ValueId id, const ir::Source& source) {
  const Params params = decisions_.read(id, false);
  THIMBLE_TRY(const ValueId value, codes(id, params));
  return to_.add(OpKind::flip_sign, {value}, {}, source,
                 {from_.value(id).name, from_.type(id).dim_order, unsigned_quant(params)});
}

Result<ValueId> Lowering::lower_output(ValueId id, const ir::Source& source) {
  if (!is_float(id)) return codes(id, params_of(id));
  switch (io_of(id)) {
    case Io::kFloat:
      return reals_[index(id)] != ir::kNoValue && !from_.is_input(id)
                 ? Result<ValueId>(reals_[index(id)])
                 : dequantized(id, source);
    case Io::kInt8:
      return codes(id, decisions_.read(id, false));
    case Io::kUint8:
      return unsigned_output(id, source);
    case Io::kInt16:
      return codes(id, decisions_.read(id, true));
  }
  return codes(id, params_of(id));
}

Status Lowering::lower_outputs() {
  std::map<ValueId, ValueId> done;
  const auto producers = from_.producers();
  for (const ValueId id : from_.outputs()) {
    if (!done.contains(id)) {
      const int producer = producers[index(id)];
      const ir::Source source =
          producer < 0 ? ir::Source{} : from_.ops()[static_cast<size_t>(producer)].source;
      THIMBLE_TRY(done[id], lower_output(id, source));
    }
    to_.add_output(done[id]);
  }
  return ok();
}

// --- values

Result<ValueId> Lowering::codes(ValueId id, const Params& wanted) {
  const ir::Value& value = from_.value(id);
  if (value.constant != nullptr) return constant_codes(id, wanted);
  assert(codes_[index(id)] != ir::kNoValue);
  if (!is_float(id) || params_of(id).fits(wanted)) return codes_[index(id)];
  const auto key = std::tuple(id, wanted.scale, wanted.zero_point, wanted.min, wanted.max,
                              wanted.masked, wanted.wide);
  if (const auto known = requantized_.find(key); known != requantized_.end()) {
    return known->second;
  }
  const Params& own = params_of(id);
  ValueId result = codes_[index(id)];
  const auto hint = [&](std::string_view end) {
    return Graph::ResultHint{fmt::format("{}_{}", value.name, end), value.type.dim_order,
                             wanted.quant()};
  };
  if (own.wide || wanted.wide) {
    THIMBLE_TRY(result, add_rescale(result, own, wanted, {}, hint(wanted.wide ? "int16" : "int8")));
  }
  const Params all = own.wide ? with_full_range(wanted) : own;
  if (!wanted.wide && !all.fits(wanted)) {
    THIMBLE_TRY(result,
                add_table(
                    result, all, wanted, [](double x) { return x; }, {}, hint("requantized")));
  }
  requantized_[key] = result;
  return result;
}

Result<ValueId> Lowering::constant_codes(ValueId id, const Params& wanted) {
  const ir::Value& value = from_.value(id);
  if (!is_float(id)) return to_.add_constant(value.name, value.constant);
  return to_.add_constant(value.name, tensor_codes(*value.constant, wanted), wanted.quant());
}

template <typename F>
Result<ValueId> Lowering::add_table(ValueId x, const Params& from, const Params& to, F f,
                                    const ir::Source& source, Graph::ResultHint hint) {
  ir::Tensor table = ir::zeros(ir::DType::kI8, {256});
  const bool single = !plan_.pins.empty();  // PyTorch computes in float32
  for (int32_t code = -128; code < 128; ++code) {
    const double real = single ? static_cast<double>(from.real_f32(code)) : from.real(code);
    const int32_t result = single ? to.code_f32(static_cast<float>(f(real))) : to.code(f(real));
    table.data<int8_t>()[static_cast<size_t>(code + 128)] = static_cast<int8_t>(result);
  }
  const ValueId id =
      to_.add_constant(hint.name + ".table", std::make_shared<ir::Tensor>(std::move(table)));
  return to_.add(OpKind::lut, {x, id}, {}, source, std::move(hint));
}

/// Converts between int8 and int16, or between int16 parameters.
Result<ValueId> Lowering::add_rescale(ValueId x, const Params& from, const Params& to,
                                      const ir::Source& source, Graph::ResultHint hint) {
  // With a larger ratio, every non-zero value saturates 16 bits.
  constexpr double kRatioMax = 32767;
  const auto multiplier = numerics::quantize_multiplier(std::min(from.scale / to.scale, kRatioMax));
  return to_.add(OpKind::rescale, {x},
                 {{ir::attr::x_zp, int64_t{from.zero_point}},
                  {ir::attr::y_zp, int64_t{to.zero_point}},
                  {ir::attr::mult, int64_t{multiplier.mult}},
                  {ir::attr::shift, int64_t{std::max(multiplier.shift, numerics::kShiftMin)}},
                  {ir::attr::wide, int64_t{to.wide ? 1 : 0}}},
                 source, std::move(hint));
}

// --- operators

Status Lowering::lower_op(size_t op_index) {
  const Op& op = from_.ops()[op_index];
  const OpPlan& plan = plan_.ops[op_index];
  const ir::Value& result = from_.value(plan.result);
  // For a float or uint8 output, the operator that converts it has the name of the output.
  const bool converted = is_float(plan.result) && is_output(from_, plan.result) &&
                         (io_of(plan.result) == Io::kFloat || io_of(plan.result) == Io::kUint8);
  Graph::ResultHint hint{result.name + (converted ? "_int8" : ""), result.type.dim_order, {}};
  if (is_float(plan.result)) hint.quant = params_of(plan.result).quant();
  RuleCall call(this, op_index, hint);
  THIMBLE_TRY(const ValueId id, plan.role == Role::kTable ? lower_table(op, plan, hint)
                                                          : rule_of(op.kind)->lower(call));
  codes_[index(plan.result)] = id;
  if (is_float(plan.result)) {
    counterparts_.push_back({id, plan.result, op_index, to_.ops().size() - 1});
  }
  return ok();
}

Status Lowering::lower_float(size_t op_index) {
  const Op& op = from_.ops()[op_index];
  const ir::Value& result = from_.value(op.output);
  std::vector<ValueId> operands;
  for (const ValueId id : op.inputs) {
    ValueId operand = ir::kNoValue;
    if (id != ir::kNoValue) {
      THIMBLE_TRY(operand, real(id, op.source));
    }
    operands.push_back(operand);
  }
  THIMBLE_TRY(reals_[index(op.output)], to_.add(op.kind, std::move(operands), op.attrs, op.source,
                                                {result.name, result.type.dim_order, {}}));
  if (!plan_.is_quantized[index(op.output)]) return ok();
  THIMBLE_TRY(codes_[index(op.output)], quantized(op.output, reals_[index(op.output)], op.source));
  return ok();
}

Result<ValueId> Lowering::real(ValueId id, const ir::Source& source) {
  const ir::Value& value = from_.value(id);
  if (!is_float(id)) {
    return value.constant != nullptr ? to_.add_constant(value.name, value.constant)
                                     : Result<ValueId>(codes_[index(id)]);
  }
  if (reals_[index(id)] != ir::kNoValue) return reals_[index(id)];
  if (value.constant != nullptr) {
    reals_[index(id)] = to_.add_constant(value.name, value.constant);
  } else {
    const Params& params = params_of(id);
    THIMBLE_TRY(const ValueId quantized_value, codes(id, params));
    THIMBLE_TRY(reals_[index(id)],
                to_.add(OpKind::dequantize, {quantized_value},
                        {{ir::attr::scale, params.scale},
                         {ir::attr::zero_point, int64_t{params.zero_point}}},
                        source, {value.name + "_real", value.type.dim_order, {}}));
  }
  return reals_[index(id)];
}

Result<ValueId> Lowering::lower_table(const Op& op, const OpPlan& plan,
                                      const Graph::ResultHint& hint) {
  if (plan.wide) return add_wide_table(op, plan, hint);
  const ElementFunction function(from_, plan_.pins, plan.table_source, plan.result);
  THIMBLE_TRY(const ValueId x, codes(plan.table_source, decisions_.read(plan.table_source, false)));
  return add_table(x, decisions_.read(plan.table_source, false), params_of(plan.result), function,
                   op.source, hint);
}

/// Adds a table of points of the function at a distance of 128 steps (docs/numerics.md, lut16).
Result<ValueId> Lowering::add_wide_table(const Op& op, const OpPlan& plan,
                                         const Graph::ResultHint& hint) {
  const ElementFunction function(from_, plan_.pins, plan.table_source, plan.result);
  const Params& from = decisions_.read(plan.table_source, true);
  const Params& to = params_of(plan.result);
  ir::Tensor table = ir::zeros(ir::DType::kI16, {numerics::kLut16Size});
  for (int k = 0; k < numerics::kLut16Size; ++k) {
    const int code = 128 * (k - numerics::kLut16Size / 2);
    const double x = from.scale * code;
    table.data<int16_t>()[static_cast<size_t>(k)] = static_cast<int16_t>(to.code(function(x)));
  }
  THIMBLE_TRY(const ValueId x, codes(plan.table_source, from));
  const ValueId points =
      to_.add_constant(hint.name + ".table", std::make_shared<ir::Tensor>(std::move(table)));
  return to_.add(OpKind::lut16, {x, points}, {}, op.source, hint);
}

/// Weights have the shape [I, O/groups, kh, kw] and one scale, or one scale per output channel.
Result<IntegerWeights> given_transposed(const WeightRequest& request,
                                        const QuantizedConstant& weights,
                                        const QuantizedConstant* bias, int64_t groups) {
  const ir::Shape& shape = weights.codes->shape;
  QuantizedConstant filters = weights;
  filters.codes =
      std::make_shared<const ir::Tensor>(ir::transposed_conv_filters(*weights.codes, groups));
  const bool per_output = (weights.axis == 1 && groups == 1) ||
                          (weights.axis == 0 && shape[0] == groups && shape[1] == 1);
  if (per_output) {
    filters.axis = 0;
  } else if (weights.axis >= 0) {
    return unsupported(
        "its weights have a scale per index of dimension {}, which is not the output "
        "channel dimension with {} groups",
        weights.axis, groups);
  }
  THIMBLE_TRY(IntegerWeights result, requantize_given_weights(request, filters, bias));
  result.w = std::make_shared<const ir::Tensor>(ir::transposed_conv_filters(*result.w, groups));
  return result;
}

/// Quantizes the weights of a conv_transpose2d.
Result<IntegerWeights> quantize_transposed(WeightRequest request, const Op& op) {
  const ir::Tensor filters = ir::transposed_conv_filters(*request.w, op.get(ir::attr::groups));
  const auto& stride = op.get(ir::attr::stride);
  request.w = &filters;
  request.coverage = 1 / static_cast<double>(stride[0] * stride[1]);
  THIMBLE_TRY(IntegerWeights weights, quantize_weights(request));
  weights.w = std::make_shared<const ir::Tensor>(
      ir::transposed_conv_filters(*weights.w, op.get(ir::attr::groups)));
  return weights;
}

Result<IntegerWeights> weights_of(const Graph& graph, const Op& op, ValueId result,
                                  const Plan& plan, const Decisions& decisions, bool per_channel) {
  WeightRequest request;
  request.w = graph.value(op.inputs[1]).constant.get();
  if (op.inputs[2] != ir::kNoValue) request.bias = graph.value(op.inputs[2]).constant.get();
  if (op.kind != OpKind::linear) request.groups = static_cast<size_t>(op.get(ir::attr::groups));
  request.y = decisions.params[index(result)];
  request.x = decisions.read(op.inputs[0], request.y.wide);
  request.x_means = decisions.channel_means[index(op.inputs[0])];
  request.per_channel = per_channel;
  if (decisions.int4.contains(op.output)) request.bits = 4;
  request.grouped = decisions.int4_groups && can_have_groups(graph, op);
  const auto bias_error = decisions.bias_error.find(op.output);
  if (bias_error != decisions.bias_error.end()) request.bias_error = bias_error->second;
  const auto adapted = decisions.adapted.find(op.output);
  if (adapted != decisions.adapted.end()) request.adapted = &adapted->second;
  const auto pinned = plan.pins.constants.find(op.inputs[1]);
  if (pinned != plan.pins.constants.end()) {
    const auto found = plan.pins.constants.find(op.inputs[2]);
    const QuantizedConstant* bias = found == plan.pins.constants.end() ? nullptr : &found->second;
    if (op.kind != OpKind::conv_transpose2d)
      return requantize_given_weights(request, pinned->second, bias);
    return given_transposed(request, pinned->second, bias, op.get(ir::attr::groups));
  }
  WeightCache* const cache =
      request.adapted == nullptr && request.bias_error.empty() ? decisions.weight_cache : nullptr;
  const WeightCache::Key key = WeightCache::key_of(request);
  const IntegerWeights* const known = cache == nullptr ? nullptr : cache->find(op.output, key);
  if (known != nullptr) return *known;
  THIMBLE_TRY(IntegerWeights weights, op.kind == OpKind::conv_transpose2d
                                          ? quantize_transposed(request, op)
                                          : quantize_weights(request));
  if (cache != nullptr) cache->add(op.output, key, &weights);
  return weights;
}

Result<LoweredGraph> lower(const Graph& graph, const Plan& plan, const Decisions& decisions,
                           const IoTypes& io) {
  return Lowering(graph, plan, decisions, io).run();
}

}  // namespace thimble::quant
