#include "quant/lower.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

#include "numerics/fixed_point.h"
#include "numerics/multiplier.h"
#include "quant/assign.h"
#include "quant/fast/stable_math.h"
#include "quant/table.h"

namespace thimble::quant {
namespace {

using ir::Attrs;
using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using numerics::Multiplier;

constexpr double kLn2 = 0.6931471805599453;

ir::TensorPtr share(ir::Tensor tensor) {
  return std::make_shared<ir::Tensor>(std::move(tensor));
}

class Lowering {
 public:
  Lowering(const Graph& from, const Plan& plan, const Decisions& decisions, Io io)
      : from_(from), plan_(plan), decisions_(decisions), io_(io) {
    to_.name = from.name;
    codes_.resize(from.value_count(), ir::kNoValue);
  }

  Result<LoweredGraph> run() {
    THIMBLE_CHECK(lower_inputs());
    for (size_t i = 0; i < plan_.ops.size(); ++i) {
      if (plan_.ops[i].role == Role::kAbsorbed) continue;
      THIMBLE_CHECK(lower_op(i));
    }
    THIMBLE_CHECK(lower_outputs());
    return LoweredGraph{std::move(to_), std::move(counterparts_)};
  }

 private:
  // --- edges of the graph

  Status lower_inputs() {
    for (const ValueId id : from_.inputs()) {
      const ir::Value& value = from_.value(id);
      ir::Type type = value.type;
      if (io_ == Io::kInt8) {
        type.dtype = ir::DType::kI8;
        type.quant = params_of(id).quant();
      }
      codes_[index(id)] = to_.add_input(value.name, type);
    }
    if (io_ == Io::kInt8) return ok();
    const auto consumers = from_.consumers();
    for (const ValueId id : from_.inputs()) {
      const bool is_output =
          std::find(from_.outputs().begin(), from_.outputs().end(), id) != from_.outputs().end();
      if (consumers[index(id)].empty() && !is_output) continue;
      const ir::Value& value = from_.value(id);
      THIMBLE_TRY(codes_[index(id)], to_.add(OpKind::quantize, {codes_[index(id)]},
                                             {{"scale", params_of(id).scale},
                                              {"zero_point", int64_t{params_of(id).zero_point}}},
                                             source_of_input(consumers[index(id)]),
                                             {value.name + "_int8", value.type.dim_order, {}}));
    }
    return ok();
  }

  /// Reports point at the first operator that reads the input.
  [[nodiscard]] ir::Source source_of_input(const std::vector<int>& readers) const {
    return readers.empty() ? ir::Source{} : from_.ops()[static_cast<size_t>(readers[0])].source;
  }

  Status lower_outputs() {
    std::map<ValueId, ValueId> done;
    const auto producers = from_.producers();
    for (const ValueId id : from_.outputs()) {
      if (io_ == Io::kInt8) {
        THIMBLE_TRY(const ValueId value, codes(id, params_of(id)));
        to_.add_output(value);
        continue;
      }
      if (!done.contains(id)) {
        THIMBLE_TRY(const ValueId value, codes(id, params_of(id)));
        const int producer = producers[index(id)];
        THIMBLE_TRY(
            done[id],
            to_.add(
                OpKind::dequantize, {value},
                {{"scale", params_of(id).scale}, {"zero_point", int64_t{params_of(id).zero_point}}},
                producer < 0 ? ir::Source{} : from_.ops()[static_cast<size_t>(producer)].source,
                {from_.value(id).name, from_.type(id).dim_order, {}}));
      }
      to_.add_output(done[id]);
    }
    return ok();
  }

  // --- values

  static size_t index(ValueId id) { return static_cast<size_t>(id); }
  [[nodiscard]] const Params& params_of(ValueId id) const { return decisions_.params[index(id)]; }

  /// The integer value for a float value, with these parameters: as it is, or through a table.
  Result<ValueId> codes(ValueId id, const Params& wanted) {
    const ir::Value& value = from_.value(id);
    if (value.constant != nullptr) return constant_codes(id, wanted);
    assert(codes_[index(id)] != ir::kNoValue);
    if (params_of(id) == wanted) return codes_[index(id)];
    const auto key = std::tuple(id, wanted.scale, wanted.zero_point);
    if (const auto known = requantized_.find(key); known != requantized_.end()) {
      return known->second;
    }
    THIMBLE_TRY(const ValueId result,
                add_table(codes_[index(id)], params_of(id), wanted, [](double x) { return x; }, {},
                          {value.name + "_requantized", value.type.dim_order, wanted.quant()}));
    requantized_[key] = result;
    return result;
  }
  /// An operand in its own parameters.
  Result<ValueId> codes(ValueId id) { return codes(id, params_of(id)); }

  Result<ValueId> constant_codes(ValueId id, const Params& wanted) {
    const ir::Value& value = from_.value(id);
    ir::Tensor codes = ir::zeros(ir::DType::kI8, value.type.shape);
    const auto real = value.constant->data<float>();
    for (size_t i = 0; i < real.size(); ++i) {
      codes.data<int8_t>()[i] = static_cast<int8_t>(wanted.code(static_cast<double>(real[i])));
    }
    return to_.add_constant(value.name, share(std::move(codes)), wanted.quant());
  }

  template <typename F>
  Result<ValueId> add_table(ValueId x, const Params& from, const Params& to, F f,
                            const ir::Source& source, Graph::ResultHint hint) {
    ir::Tensor table = ir::zeros(ir::DType::kI8, {256});
    for (int32_t code = -128; code < 128; ++code) {
      table.data<int8_t>()[static_cast<size_t>(code + 128)] =
          static_cast<int8_t>(to.code(f(from.real(code))));
    }
    const ValueId id = to_.add_constant(hint.name + ".table", share(std::move(table)));
    return to_.add(OpKind::lut, {x, id}, {}, source, std::move(hint));
  }

  // --- operators

  Status lower_op(size_t op_index) {
    const Op& op = from_.ops()[op_index];
    const OpPlan& plan = plan_.ops[op_index];
    const ir::Value& result = from_.value(plan.result);
    // The name of a float output belongs to its dequantize.
    const bool is_output = std::find(from_.outputs().begin(), from_.outputs().end(), plan.result) !=
                           from_.outputs().end();
    const std::string suffix = is_output && io_ == Io::kFloat ? "_int8" : "";
    const Graph::ResultHint hint{result.name + suffix, result.type.dim_order,
                                 params_of(plan.result).quant()};
    THIMBLE_TRY(const ValueId id,
                plan.role == Role::kTable ? lower_table(op, plan, hint) : dispatch(op_index, hint));
    codes_[index(plan.result)] = id;
    counterparts_.push_back({id, plan.result, op_index, to_.ops().size() - 1});
    return ok();
  }

  Result<ValueId> lower_table(const Op& op, const OpPlan& plan, const Graph::ResultHint& hint) {
    const ElementFunction function(from_, plan.table_source, plan.result);
    THIMBLE_TRY(const ValueId x, codes(plan.table_source));
    return add_table(x, params_of(plan.table_source), params_of(plan.result), function, op.source,
                     hint);
  }

  Result<ValueId> dispatch(size_t op_index, const Graph::ResultHint& hint) {
    const Op& op = from_.ops()[op_index];
    const OpPlan& plan = plan_.ops[op_index];
    switch (op.kind) {
      case OpKind::conv2d:
      case OpKind::linear:
        return lower_weighted(op_index, hint);
      case OpKind::add:
        return lower_sum(OpKind::qadd, op, plan, hint);
      case OpKind::sub:
        return lower_sum(OpKind::qsub, op, plan, hint);
      case OpKind::mul:
        return lower_mul(op, plan, hint);
      case OpKind::mean:
        return lower_mean(op, plan, hint);
      case OpKind::softmax:
        return lower_softmax(op, hint);
      case OpKind::log_softmax:
        return lower_log_softmax(op, hint);
      default:
        return lower_movement(op, plan, hint);
    }
  }

  /// Attributes `min` and `max`: codes of the clamp behind the operator.
  void set_clamp(Attrs& attrs, const OpPlan& plan) const {
    const Params& y = params_of(plan.result);
    attrs.set("min", int64_t{y.code(plan.clamp_min)});
    attrs.set("max", int64_t{y.code(plan.clamp_max)});
  }

  static Status set_multiplier(Attrs& attrs, const std::string& prefix, double real) {
    const Multiplier multiplier = numerics::quantize_multiplier(real);
    if (!numerics::shift_in_range(multiplier.shift)) {
      return unsupported("the multiplier {} is beyond 2^{}", real, numerics::kShiftMax);
    }
    attrs.set(prefix + "mult", int64_t{multiplier.mult});
    attrs.set(prefix + "shift", int64_t{multiplier.shift});
    return ok();
  }

  Result<ValueId> lower_weighted(size_t op_index, const Graph::ResultHint& hint) {
    const Op& op = from_.ops()[op_index];
    const OpPlan& plan = plan_.ops[op_index];
    const Params& x = params_of(op.inputs[0]);
    const Params& y = params_of(plan.result);
    const ir::Value& w = from_.value(op.inputs[1]);
    const ir::Value* bias = op.inputs[2] == ir::kNoValue ? nullptr : &from_.value(op.inputs[2]);
    const bool per_channel = !decisions_.per_tensor.contains(op_index);
    auto weights = weights_of(from_, op, plan.result, decisions_, per_channel);
    if (!weights) return located(op, weights.error());
    const std::vector<int32_t> zeros(weights->scale.size(), 0);
    const ir::Quant w_quant{weights->scale, zeros, per_channel ? 0 : -1};
    THIMBLE_TRY(const ValueId x_id, codes(op.inputs[0]));
    const ValueId w_id = to_.add_constant(w.name, share(std::move(weights->w)), w_quant);
    ValueId bias_id = ir::kNoValue;
    if (bias != nullptr) {
      ir::Quant bias_quant = w_quant;
      for (double& scale : bias_quant.scale) scale *= x.scale;
      bias_id = to_.add_constant(bias->name, share(std::move(weights->bias)), bias_quant);
    }
    const ValueId mult = to_.add_constant(w.name + ".mult", share(std::move(weights->mult)));
    const ValueId shift = to_.add_constant(w.name + ".shift", share(std::move(weights->shift)));
    Attrs attrs = op.attrs;
    attrs.set("x_zp", int64_t{x.zero_point});
    attrs.set("y_zp", int64_t{y.zero_point});
    set_clamp(attrs, plan);
    return to_.add(op.kind == OpKind::conv2d ? OpKind::qconv2d : OpKind::qlinear,
                   {x_id, w_id, bias_id, mult, shift}, attrs, op.source, hint);
  }

  static Error located(const Op& op, const Error& error) {
    const std::string where = op.source.where();
    return {error.kind, fmt::format("{}{}{}: {}", where, where.empty() ? "" : ": ",
                                    ir::op_name(op.kind), error.message)};
  }

  Result<ValueId> lower_sum(OpKind kind, const Op& op, const OpPlan& plan,
                            const Graph::ResultHint& hint) {
    const Params& a = params_of(op.inputs[0]);
    const Params& b = params_of(op.inputs[1]);
    const Params& y = params_of(plan.result);
    const double joint = 2 * std::max(a.scale, b.scale);
    Attrs attrs{{"a_zp", int64_t{a.zero_point}},
                {"b_zp", int64_t{b.zero_point}},
                {"y_zp", int64_t{y.zero_point}}};
    THIMBLE_CHECK(set_multiplier(attrs, "a_", a.scale / joint));
    THIMBLE_CHECK(set_multiplier(attrs, "b_", b.scale / joint));
    const Status fits = set_multiplier(attrs, "y_", joint / (0x1p20 * y.scale));
    if (!fits.ok()) return located(op, fits.error());
    set_clamp(attrs, plan);
    THIMBLE_TRY(const ValueId a_id, codes(op.inputs[0]));
    THIMBLE_TRY(const ValueId b_id, codes(op.inputs[1]));
    return to_.add(kind, {a_id, b_id}, attrs, op.source, hint);
  }

  Result<ValueId> lower_mul(const Op& op, const OpPlan& plan, const Graph::ResultHint& hint) {
    const Params& a = params_of(op.inputs[0]);
    const Params& b = params_of(op.inputs[1]);
    const Params& y = params_of(plan.result);
    Attrs attrs{{"a_zp", int64_t{a.zero_point}},
                {"b_zp", int64_t{b.zero_point}},
                {"y_zp", int64_t{y.zero_point}}};
    const Status fits = set_multiplier(attrs, "", a.scale * b.scale / y.scale);
    if (!fits.ok()) return located(op, fits.error());
    set_clamp(attrs, plan);
    THIMBLE_TRY(const ValueId a_id, codes(op.inputs[0]));
    THIMBLE_TRY(const ValueId b_id, codes(op.inputs[1]));
    return to_.add(OpKind::qmul, {a_id, b_id}, attrs, op.source, hint);
  }

  Result<ValueId> lower_mean(const Op& op, const OpPlan& plan, const Graph::ResultHint& hint) {
    const Params& x = params_of(op.inputs[0]);
    const Params& y = params_of(plan.result);
    const double count = static_cast<double>(from_.type(op.inputs[0]).elements()) /
                         static_cast<double>(from_.type(op.output).elements());
    Attrs attrs = op.attrs;
    attrs.set("x_zp", int64_t{x.zero_point});
    attrs.set("y_zp", int64_t{y.zero_point});
    const Status fits = set_multiplier(attrs, "", x.scale / (count * y.scale));
    if (!fits.ok()) return located(op, fits.error());
    set_clamp(attrs, plan);
    THIMBLE_TRY(const ValueId id, codes(op.inputs[0]));
    return to_.add(OpKind::qmean, {id}, attrs, op.source, hint);
  }

  Result<ValueId> lower_softmax(const Op& op, const Graph::ResultHint& hint) {
    const double real = std::min(params_of(op.inputs[0]).scale * 0x1p26, 2147483647.0);
    Attrs attrs = op.attrs;
    const Multiplier multiplier = numerics::quantize_multiplier(real);
    attrs.set("mult", int64_t{multiplier.mult});
    attrs.set("shift", int64_t{multiplier.shift});
    const double diff_min = -std::floor(std::ldexp(31.0 * 0x1p26, -multiplier.shift));
    attrs.set("diff_min", static_cast<int64_t>(diff_min));
    THIMBLE_TRY(const ValueId id, codes(op.inputs[0]));
    return to_.add(OpKind::qsoftmax, {id}, attrs, op.source, hint);
  }

  Result<ValueId> lower_log_softmax(const Op& op, const Graph::ResultHint& hint) {
    const Params& x = params_of(op.inputs[0]);
    const Params& y = params_of(op.output);
    ir::Tensor table = ir::zeros(ir::DType::kI32, {256});
    for (int k = 0; k < 256; ++k) {
      table.data<int32_t>()[static_cast<size_t>(k)] =
          static_cast<int32_t>(std::nearbyint(stable_exp(-k * x.scale) * 0x1p20));
    }
    Attrs attrs = op.attrs;
    attrs.set("y_zp", int64_t{y.zero_point});
    THIMBLE_CHECK(set_multiplier(attrs, "scale_", x.scale / y.scale));
    THIMBLE_CHECK(set_multiplier(attrs, "log_", kLn2 / (0x1p16 * y.scale)));
    THIMBLE_TRY(const ValueId id, codes(op.inputs[0]));
    const ValueId table_id = to_.add_constant(hint.name + ".exp_table", share(std::move(table)));
    return to_.add(OpKind::qlog_softmax, {id, table_id}, attrs, op.source, hint);
  }

  /// Movement and pools: operands take the result's parameters, which all but small operands of
  /// concat have anyway.
  Result<ValueId> lower_movement(const Op& op, const OpPlan& plan, const Graph::ResultHint& hint) {
    const Params& y = params_of(plan.result);
    std::vector<ValueId> operands;
    for (const ValueId id : op.inputs) {
      THIMBLE_TRY(const ValueId operand, codes(id, y));
      operands.push_back(operand);
    }
    Attrs attrs = op.attrs;
    OpKind kind = op.kind;
    if (kind == OpKind::pad) attrs.set("value", static_cast<double>(y.code(op.number("value"))));
    if (kind == OpKind::avg_pool2d) {
      kind = OpKind::qavg_pool2d;
      set_clamp(attrs, plan);
    }
    return to_.add(kind, operands, attrs, op.source, hint);
  }

  const Graph& from_;
  const Plan& plan_;
  const Decisions& decisions_;
  const Io io_;
  Graph to_;
  std::vector<ValueId> codes_;  // by float value
  std::map<std::tuple<ValueId, double, int32_t>, ValueId> requantized_;
  std::vector<Counterpart> counterparts_;
};

}  // namespace

Result<IntegerWeights> weights_of(const Graph& graph, const Op& op, ValueId result,
                                  const Decisions& decisions, bool per_channel) {
  WeightRequest request;
  request.w = graph.value(op.inputs[1]).constant.get();
  if (op.inputs[2] != ir::kNoValue) request.bias = graph.value(op.inputs[2]).constant.get();
  if (op.kind == OpKind::conv2d) request.groups = static_cast<size_t>(op.integer("groups"));
  request.x = decisions.params[static_cast<size_t>(op.inputs[0])];
  request.y = decisions.params[static_cast<size_t>(result)];
  request.x_means = decisions.channel_means[static_cast<size_t>(op.inputs[0])];
  request.per_channel = per_channel;
  return quantize_weights(request);
}

Result<LoweredGraph> lower(const Graph& graph, const Plan& plan, const Decisions& decisions,
                           Io io) {
  return Lowering(graph, plan, decisions, io).run();
}

}  // namespace thimble::quant
