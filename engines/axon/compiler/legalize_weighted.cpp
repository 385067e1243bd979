// SPDX-License-Identifier: Apache-2.0
// Legalization of convolutions and linear layers.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engines/axon/compiler/legalizer.h"
#include "engines/axon/compiler/scale.h"

namespace thimble::engine::axon {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

/// Multipliers and shifts in the order of the graph's constants: one entry, or one per channel.
/// With a leaky relu each entry has a pair of multipliers.
struct Multipliers {
  std::vector<int32_t> mult, shift;
};

/// Returns the largest magnitude of an output channel's accumulator.
double reach_of(const ir::Tensor& w, const ir::Tensor* bias, size_t channel) {
  const auto all = w.data<int8_t>();
  const size_t terms = all.size() / static_cast<size_t>(w.shape[0]);
  double sum = 0;
  for (const int8_t weight : all.subspan(channel * terms, terms)) sum += std::abs(weight);
  const int64_t offset = bias == nullptr ? 0 : bias->data<int32_t>()[channel];
  return 255 * sum + static_cast<double>(std::abs(offset));
}

/// Appends one multiplier, or the pair {negative, positive} if `slope` is given, and one shift.
Status append_scale(double real, const double* slope, int64_t zero_point, double accumulator_max,
                    double codes, Multipliers* to) {
  const double negative = slope != nullptr ? real * *slope : 0;
  const auto scale = scale_for(std::max(real, negative), zero_point);
  if (!scale) {
    return unsupported("the multiplier {:.6g} exceeds 2^{}", real, 31 - kShiftMin);
  }
  const auto mult = [&](double value) {
    return static_cast<int32_t>(std::nearbyint(std::ldexp(value, scale->shift)));
  };
  THIMBLE_CHECK(check_precision(real, {mult(real), scale->shift}, accumulator_max, codes));
  if (slope != nullptr) to->mult.push_back(mult(negative));
  to->mult.push_back(mult(real));
  to->shift.push_back(scale->shift);
  return ok();
}

}  // namespace

Status Legalizer::weighted(const Op& op) {
  return emit_fused(op, &Legalizer::emit_weighted, own_requantization(op, op.get(ir::attr::y_zp)));
}

Result<ValueId> Legalizer::emit_weighted(const Op& op, const Requantization& ask,
                                         const ir::Graph::ResultHint& hint) {
  const ir::Value& w = from_.value(op.inputs[1]);
  const bool has_bias = op.inputs[2] != ir::kNoValue;
  if (!w.constant || (has_bias && !from_.value(op.inputs[2]).constant)) {
    return unsupported("weights or bias are not constant");
  }
  const ir::Tensor* bias = has_bias ? from_.value(op.inputs[2]).constant.get() : nullptr;
  const auto mult = from_.value(op.inputs[3]).constant->data<int32_t>();
  const auto shift = from_.value(op.inputs[4]).constant->data<int32_t>();
  const auto channels = static_cast<size_t>(w.constant->shape[0]);
  const bool one = mult.size() == 1 && shift.size() == 1 && ask.slopes.size() <= 1;
  Multipliers entries;
  double widest = 0;
  for (size_t c = 0; c < channels; ++c) {
    const double accumulator_max = reach_of(*w.constant, bias, c);
    widest = std::max(widest, accumulator_max);
    if (one) continue;
    const double real = real_of(mult[mult.size() == 1 ? 0 : c], shift[shift.size() == 1 ? 0 : c]);
    const double* slope =
        ask.slopes.empty() ? nullptr : &ask.slopes[ask.slopes.size() == 1 ? 0 : c];
    THIMBLE_CHECK(append_scale(real * ask.ratio, slope, ask.zero_point, accumulator_max,
                               ask.codes(), &entries));
  }
  if (one) {
    const double* slope = ask.slopes.empty() ? nullptr : ask.slopes.data();
    THIMBLE_CHECK(append_scale(real_of(mult[0], shift[0]) * ask.ratio, slope, ask.zero_point,
                               widest, ask.codes(), &entries));
  }
  ir::Attrs attrs = op.attrs;
  set_requantization_attrs(ask, &attrs);
  attrs.set(ir::attr::leaky, int64_t{ask.slopes.empty() ? 0 : 1});
  ValueId x = op.inputs[0];
  if (const Op* before = producer(x);
      before != nullptr && before->kind == OpKind::pad && folds(*before)) {
    x = before->inputs[0];
    auto padding = op.get(ir::attr::padding);
    for (size_t i = 0; i < 2; ++i) {
      padding[i] += before->get(ir::attr::before)[2 + i];
      padding[2 + i] += before->get(ir::attr::after)[2 + i];
    }
    attrs.set(ir::attr::padding, padding);
  }
  const ValueId mult_id = constant(
      hint.name + ".mult", ir::make_i32({static_cast<int64_t>(entries.mult.size())}, entries.mult));
  const ValueId shift_id =
      constant(hint.name + ".shift",
               ir::make_i32({static_cast<int64_t>(entries.shift.size())}, entries.shift));
  return rewriter_.to().add(op.kind,
                            {rewriter_.map(x), rewriter_.map(op.inputs[1]),
                             rewriter_.map(op.inputs[2]), mult_id, shift_id},
                            std::move(attrs), op.source, hint);
}

/// Adds a leaky relu that cannot be fused into the layer before: a 1x1 depthwise convolution with
/// weights 1.
Result<ValueId> Legalizer::standalone_leaky_relu(const Op& op, const Function& function) {
  const ir::Type& type = from_.type(op.inputs[0]);
  const bool picture = type.shape.size() == 4 && type.shape[0] == 1;
  if (!picture && function.slopes.size() > 1) {
    return unsupported("per-channel slopes for shape {}: only images [1,C,H,W] are supported",
                       ir::list_text(type.shape));
  }
  if (!type.quant) return unsupported("its operand has no per-tensor scale");
  ir::Graph& to = rewriter_.to();
  const ir::Graph::ResultHint hint = hint_of(op.output);
  ValueId x = rewriter_.map(op.inputs[0]);
  const ir::Shape flat = picture ? type.shape : ir::Shape{1, 1, 1, type.elements()};
  if (!picture) {
    THIMBLE_TRY(x, to.add(OpKind::reshape, {x}, {{ir::attr::shape, flat}}, op.source,
                          {hint.name + "_flat", {}, type.quant}));
  }
  Multipliers entries;
  const size_t channels = function.slopes.size() == 1 ? 1 : static_cast<size_t>(flat[1]);
  for (size_t c = 0; c < channels; ++c) {
    THIMBLE_CHECK(
        append_scale(function.ratio, &function.slopes[c], function.zero_point, 255, 255, &entries));
  }
  const ir::Tensor ones =
      ir::make_i8({flat[1], 1, 1, 1}, std::vector<int8_t>(static_cast<size_t>(flat[1]), 1));
  const ValueId w = constant(hint.name + ".ones", ones, ir::per_tensor(1, 0));
  const ValueId mult = constant(
      hint.name + ".mult", ir::make_i32({static_cast<int64_t>(entries.mult.size())}, entries.mult));
  const ValueId shift =
      constant(hint.name + ".shift",
               ir::make_i32({static_cast<int64_t>(entries.shift.size())}, entries.shift));
  Requantization ask;
  ask.zero_point = function.zero_point;
  const std::vector<int64_t> once = {1, 1};
  ir::Attrs attrs = {{ir::attr::stride, once},
                     {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                     {ir::attr::dilation, once},
                     {ir::attr::groups, flat[1]},
                     {ir::attr::x_zp, int64_t{type.quant->zero_point[0]}},
                     {ir::attr::leaky, int64_t{1}}};
  set_requantization_attrs(ask, &attrs);
  ir::Graph::ResultHint own = hint;
  if (!picture) own.name += "_leaky";
  THIMBLE_TRY(ValueId made, to.add(OpKind::qconv2d, {x, w, ir::kNoValue, mult, shift},
                                   std::move(attrs), op.source, own));
  if (picture) return made;
  return to.add(OpKind::reshape, {made}, {{ir::attr::shape, type.shape}}, op.source, hint);
}

}  // namespace thimble::engine::axon
