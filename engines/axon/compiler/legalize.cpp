// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/legalize.h"

#include <algorithm>
#include <cmath>

#include "engines/axon/compiler/legalizer.h"

namespace thimble::engine::axon {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

constexpr std::pair<OpKind, std::string_view> kRefused[] = {
#define AXON_REFUSE(op, reason) {OpKind::op, reason},
#include "engines/axon/compiler/ops.def"
};

std::string_view refusal_of(OpKind kind) {
  for (const auto& [refused, reason] : kRefused) {
    if (refused == kind) return reason;
  }
  return "no operator of the NPU";
}

}  // namespace

Legalizer::Legalizer(const ir::Graph& from)
    : from_(from),
      rewriter_(from),
      producers_(from.producers()),
      consumers_(from.consumers()),
      result_(from.value_count(), false),
      done_(from.ops().size(), false) {
  for (const ValueId id : from.results()) result_[ir::index_of(id)] = true;
}

Result<ir::Graph> Legalizer::run() {
  for (size_t i = 0; i < from_.ops().size(); ++i) {
    if (done_[i]) continue;
    const Op& op = from_.ops()[i];
    const Status added = add(op);
    if (added.ok()) continue;
    return prefixed(ir::op_name(op.kind), added.error());
  }
  return rewriter_.finish();
}

Status Legalizer::add(const Op& op) {
  const bool rounds = ir::has_attr(op.kind, ir::attr::rounding);
  if (rounds && op.get(ir::attr::rounding) == 2) return same(op);
  switch (op.kind) {
#define AXON_LEGALIZE(op_kind, function_name) \
  case OpKind::op_kind:                       \
    return function_name(op);
#include "engines/axon/compiler/ops.def"
    default:
      return unsupported("{}", refusal_of(op.kind));
  }
}

// --- readers of a value ------------------------------------------------------------------------

const Op* Legalizer::producer(ValueId id) const {
  const int index = id == ir::kNoValue ? -1 : producers_[ir::index_of(id)];
  return index < 0 ? nullptr : &from_.ops()[static_cast<size_t>(index)];
}

bool Legalizer::only_read_by_one(ValueId id) const {
  return !result_[ir::index_of(id)] && consumers_[ir::index_of(id)].size() == 1;
}

std::optional<Legalizer::FusedFunction> Legalizer::fusible_reader(const Op& op) const {
  if (!only_read_by_one(op.output)) return std::nullopt;
  const Op& reader = from_.ops()[static_cast<size_t>(consumers_[ir::index_of(op.output)][0])];
  if (!is_function(reader.kind) || reader.inputs[0] != op.output) return std::nullopt;
  auto function = function_of(from_, reader);
  const std::optional<ir::Quant>& quant = from_.type(op.output).quant;
  if (!function.ok() || !quant) return std::nullopt;
  // A range that ends at the zero point is a fused relu or relu6: the int8 saturation must stay. A
  // fused change of scale would lose it.
  const bool ends_at_zero = op.get(ir::attr::min) == quant->zero_point[0];
  const bool plain = op.get(ir::attr::min) == -128 && op.get(ir::attr::max) == 127 && !ends_at_zero;
  const bool rescales = function->kind == Function::Kind::kLine &&
                        std::ranges::all_of(function->slopes, [](double s) { return s == 1; });
  if (!plain || rescales) return std::nullopt;
  return FusedFunction{&reader, *std::move(function)};
}

Result<Legalizer::Requantization> Legalizer::requantization_for(const Function& function,
                                                                double scale) {
  Requantization ask;
  switch (function.kind) {
    case Function::Kind::kSigmoid:
    case Function::Kind::kTanh:
      ask.bytes = 2;
      ask.min = INT16_MIN;
      ask.max = INT16_MAX;
      ask.ratio = scale / kFraction;
      return ask;
    case Function::Kind::kSoftmax:
      ask.bytes = 4;
      ask.min = INT32_MIN;
      ask.max = INT32_MAX;
      ask.ratio = scale / kFraction;
      return ask;
    case Function::Kind::kLine:
      break;
  }
  ask.ratio = function.ratio;
  ask.zero_point = function.zero_point;
  ask.min = function.min;
  ask.max = function.max;
  const auto all = [&](double slope) {
    return std::ranges::all_of(function.slopes, [=](double s) { return s == slope; });
  };
  if (all(1)) return ask;
  if (all(0)) {
    ask.min = std::max(ask.min, ask.zero_point);
    return ask;
  }
  if (ask.min != -128 || ask.max != 127) {
    return unsupported("a leaky relu with bounds {} and {}", ask.min, ask.max);
  }
  ask.slopes = function.slopes;
  return ask;
}

// --- operators with a fused reader -------------------------------------------------------------

Legalizer::Requantization Legalizer::own_requantization(const Op& op, int64_t zero_point) {
  Requantization own;
  own.zero_point = zero_point;
  own.min = op.get(ir::attr::min);
  own.max = op.get(ir::attr::max);
  return own;
}

Status Legalizer::emit_fused(const Op& op, Emit emit, Requantization own) {
  if (const auto tail = fusible_reader(op)) {
    const auto ask = requantization_for(tail->function, from_.type(op.output).quant->scale[0]);
    const bool curve = tail->function.kind != Function::Kind::kLine;
    ir::Graph::ResultHint hint = hint_of(curve ? op.output : tail->op->output);
    if (curve) hint.quant = ir::per_tensor(kFraction, 0);
    auto made = ask.ok() ? (this->*emit)(op, *ask, hint) : Result<ValueId>(ask.error());
    if (made.ok()) {
      done_[static_cast<size_t>(consumers_[ir::index_of(op.output)][0])] = true;
      if (curve) {
        THIMBLE_TRY(made, add_curve(tail->function, *made, *tail->op));
      }
      rewriter_.set(tail->op->output, *made);
      return ok();
    }
  }
  THIMBLE_TRY(const ValueId made, (this->*emit)(op, own, hint_of(op.output)));
  rewriter_.set(op.output, made);
  return ok();
}

Result<ValueId> Legalizer::add_curve(const Function& function, ValueId x, const Op& op) {
  const ir::Graph::ResultHint hint = hint_of(op.output);
  if (function.kind == Function::Kind::kSoftmax) {
    return rewriter_.to().add(OpKind::qsoftmax12, {x}, {{ir::attr::dim, function.dim}}, op.source,
                              hint);
  }
  const bool sigmoid = function.kind == Function::Kind::kSigmoid;
  const OpKind kind = sigmoid ? OpKind::qsigmoid12 : OpKind::qtanh12;
  if (!function.rescaled) return rewriter_.to().add(kind, {x}, {}, op.source, hint);
  // The curve has a fixed output scale; a requantization converts it to the scale of the graph.
  const ir::Quant own = sigmoid ? ir::per_tensor(1.0 / 256, -128) : ir::per_tensor(1.0 / 128, 0);
  THIMBLE_TRY(const ValueId curve,
              rewriter_.to().add(kind, {x}, {}, op.source, {hint.name + "_curve", {}, own}));
  Requantization ask;
  ask.ratio = function.ratio;
  ask.zero_point = function.zero_point;
  return times(curve, 1, ask, op, hint);
}

/// Adds a function that cannot be fused into the layer of its operand.
Status Legalizer::function(const Op& op) {
  THIMBLE_TRY(const Function function, function_of(from_, op));
  const bool line = function.kind == Function::Kind::kLine;
  const double scale = line ? 1 : from_.type(op.inputs[0]).quant->scale[0];
  THIMBLE_TRY(const Requantization ask, requantization_for(function, scale));
  ValueId made = ir::kNoValue;
  if (!ask.slopes.empty()) {
    THIMBLE_TRY(made, standalone_leaky_relu(op, function));
  } else if (line) {
    THIMBLE_TRY(made, requantized(op, ask, hint_of(op.output)));
  } else {
    ir::Graph::ResultHint hint = hint_of(op.output);
    hint.name += "_wide";
    hint.quant = ir::per_tensor(kFraction, 0);
    THIMBLE_TRY(const ValueId wide, requantized(op, ask, hint));
    THIMBLE_TRY(made, add_curve(function, wide, op));
  }
  rewriter_.set(op.output, made);
  return ok();
}

// --- data movement -----------------------------------------------------------------------------

Status Legalizer::same(const Op& op) {
  return rewriter_.copy(op);
}

bool Legalizer::folds(const Op& pad) const {
  const auto& before = pad.get(ir::attr::before);
  const auto& after = pad.get(ir::attr::after);
  if (before.size() != 4 || before[0] + before[1] + after[0] + after[1] != 0) return false;
  if (result_[ir::index_of(pad.output)] || consumers_[ir::index_of(pad.output)].empty())
    return false;
  return std::ranges::all_of(consumers_[ir::index_of(pad.output)], [&](int index) {
    const Op& reader = from_.ops()[static_cast<size_t>(index)];
    return reader.kind == OpKind::qconv2d && reader.inputs[0] == pad.output &&
           pad.get(ir::attr::value) == static_cast<double>(reader.get(ir::attr::x_zp));
  });
}

Status Legalizer::pad(const Op& op) {
  if (folds(op)) return ok();
  const auto& before = op.get(ir::attr::before);
  const auto& after = op.get(ir::attr::after);
  const size_t channel = before.size() == 4 ? 1 : before.size();
  for (size_t i = 0; i < before.size(); ++i) {
    if (i == channel || (before[i] == 0 && after[i] == 0)) continue;
    return unsupported(
        "it pads dimension {}; supported: padding of channels, or with the zero point before "
        "convolutions only",
        i);
  }
  const std::optional<ir::Quant>& quant = from_.type(op.output).quant;
  if (!quant || static_cast<double>(quant->zero_point[0]) != op.get(ir::attr::value)) {
    return unsupported("it pads channels with {}; only the zero point is supported",
                       op.get(ir::attr::value));
  }
  return rewriter_.copy(op);
}

/// Only dimensions of size 1 may change their position; the result is a reshape.
Status Legalizer::permute(const Op& op) {
  const ir::Shape& shape = from_.type(op.inputs[0]).shape;
  int64_t last = -1;
  for (const int64_t dim : op.get(ir::attr::dims)) {
    if (shape[static_cast<size_t>(dim)] == 1) continue;
    if (dim < last) {
      return unsupported("it transposes dimensions {} and {}; the NPU has no transpose", last, dim);
    }
    last = dim;
  }
  THIMBLE_TRY(const ValueId made,
              rewriter_.to().add(OpKind::reshape, {rewriter_.map(op.inputs[0])},
                                 {{ir::attr::shape, from_.type(op.output).shape}}, op.source,
                                 hint_of(op.output)));
  rewriter_.set(op.output, made);
  return ok();
}

// --- helpers -----------------------------------------------------------------------------------

ir::Graph::ResultHint Legalizer::hint_of(ValueId id) const {
  const ir::Value& value = from_.value(id);
  return {value.name, value.type.dim_order, value.type.quant};
}

ValueId Legalizer::constant(const std::string& name, ir::Tensor tensor,
                            std::optional<ir::Quant> quant) {
  return rewriter_.to().add_constant(name, std::make_shared<ir::Tensor>(std::move(tensor)),
                                     std::move(quant));
}

void Legalizer::set_requantization_attrs(const Requantization& ask, ir::Attrs* attrs) {
  attrs->set(ir::attr::y_zp, ask.zero_point);
  attrs->set(ir::attr::min, ask.min);
  attrs->set(ir::attr::max, ask.max);
  attrs->set(ir::attr::rounding, int64_t{2});
  attrs->set(ir::attr::bytes, ask.bytes);
}

Result<ir::Graph> legalize(const ir::Graph& subgraph) {
  return Legalizer(subgraph).run();
}

}  // namespace thimble::engine::axon
