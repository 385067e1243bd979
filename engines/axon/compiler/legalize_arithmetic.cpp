// SPDX-License-Identifier: Apache-2.0
// Legalization of sums, products and means.

#include <cmath>

#include "engines/axon/compiler/legalizer.h"
#include "engines/axon/compiler/scale.h"

namespace thimble::engine::axon {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

Status Legalizer::sum(const Op& op) {
  return emit_fused(op, &Legalizer::emit_sum, own_requantization(op, op.get(ir::attr::y_zp)));
}

Status Legalizer::product(const Op& op) {
  return emit_fused(op, &Legalizer::emit_product, own_requantization(op, op.get(ir::attr::y_zp)));
}

Status Legalizer::mean(const Op& op) {
  return emit_fused(op, &Legalizer::emit_mean, own_requantization(op, op.get(ir::attr::y_zp)));
}

/// The result of a pool has the scale and zero point of its operand.
Status Legalizer::average_pool(const Op& op) {
  const std::optional<ir::Quant>& quant = from_.type(op.inputs[0]).quant;
  if (!quant || quant->axis >= 0) return unsupported("its operand has no per-tensor scale");
  return emit_fused(op, &Legalizer::emit_pool, own_requantization(op, quant->zero_point[0]));
}

Status Legalizer::adaptive_pool(const Op& op) {
  return average_pool(op);
}

Result<ValueId> Legalizer::emit_sum(const Op& op, const Requantization& ask,
                                    const ir::Graph::ResultHint& hint) {
  if (!ask.slopes.empty()) return unsupported("a leaky relu cannot be fused into a sum");
  const double result =
      std::ldexp(real_of(op.get(ir::attr::y_mult), op.get(ir::attr::y_shift)), 20) * ask.ratio;
  const double a = real_of(op.get(ir::attr::a_mult), op.get(ir::attr::a_shift)) * result;
  const double b = real_of(op.get(ir::attr::b_mult), op.get(ir::attr::b_shift)) * result;
  const auto scale = sum_scale_for(a, b, ask.zero_point);
  if (!scale) {
    return unsupported("the multipliers {:.4g} and {:.4g} do not fit 15 bits: at most {} do", a, b,
                       kMultOfSum >> kShiftMin);
  }
  constexpr double kReach = 255;
  THIMBLE_CHECK(check_precision(a, {scale->a, scale->shift}, kReach, ask.codes()));
  THIMBLE_CHECK(check_precision(b, {scale->b, scale->shift}, kReach, ask.codes()));
  ir::Attrs attrs = op.attrs;
  set_requantization_attrs(ask, &attrs);
  attrs.set(ir::attr::a_mult, int64_t{scale->a});
  attrs.set(ir::attr::a_shift, int64_t{0});
  attrs.set(ir::attr::b_mult, int64_t{scale->b});
  attrs.set(ir::attr::b_shift, int64_t{0});
  attrs.set(ir::attr::y_mult, int64_t{1});
  attrs.set(ir::attr::y_shift, int64_t{scale->shift});
  std::vector<ValueId> inputs = rewriter_.map(op.inputs);
  if (op.kind == OpKind::qsub) {
    const int64_t zero = op.get(ir::attr::b_zp);
    THIMBLE_TRY(inputs[1], negated(op.inputs[1], zero, op));
    attrs.set(ir::attr::b_zp, -1 - zero);
  }
  return rewriter_.to().add(OpKind::qadd, std::move(inputs), std::move(attrs), op.source, hint);
}

Result<ValueId> Legalizer::emit_scaled(const Op& op, OpKind kind, ir::Attrs attrs, double real,
                                       double accumulator_max, const Requantization& ask,
                                       const ir::Graph::ResultHint& hint) {
  if (!ask.slopes.empty()) return unsupported("a leaky relu cannot be fused into it");
  const auto scale = scale_for(real, ask.zero_point);
  if (!scale) return unsupported("the multiplier {:.6g} exceeds 2^{}", real, 31 - kShiftMin);
  THIMBLE_CHECK(check_precision(real, *scale, accumulator_max, ask.codes()));
  set_requantization_attrs(ask, &attrs);
  attrs.set(ir::attr::mult, int64_t{scale->mult});
  attrs.set(ir::attr::shift, int64_t{scale->shift});
  return rewriter_.to().add(kind, rewriter_.map(op.inputs), std::move(attrs), op.source, hint);
}

Result<ValueId> Legalizer::emit_product(const Op& op, const Requantization& ask,
                                        const ir::Graph::ResultHint& hint) {
  constexpr double kReach = 255.0 * 255;
  constexpr ir::AttrKey<int64_t> kZeroPoints[] = {ir::attr::a_zp, ir::attr::b_zp};
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<ir::Quant>& quant = from_.type(op.inputs[i]).quant;
    const int64_t own = quant && quant->axis < 0 ? quant->zero_point[0] : 0;
    if (quant && op.get(kZeroPoints[i]) == own) continue;
    return unsupported("{} is {}, but the zero point of its operand is {}; the NPU uses the latter",
                       ir::attr_name(kZeroPoints[i]), op.get(kZeroPoints[i]),
                       quant ? std::to_string(own) : "unknown");
  }
  const double real = real_of(op.get(ir::attr::mult), op.get(ir::attr::shift)) * ask.ratio;
  return emit_scaled(op, OpKind::qmul, op.attrs, real, kReach, ask, hint);
}

Result<ValueId> Legalizer::requantized(const Op& op, const Requantization& ask,
                                       const ir::Graph::ResultHint& hint) {
  return times(rewriter_.map(op.inputs[0]), 1, ask, op, hint);
}

Result<ValueId> Legalizer::times(ValueId x, int8_t factor, const Requantization& ask, const Op& op,
                                 const ir::Graph::ResultHint& hint) {
  const ir::Type type = rewriter_.to().type(x);
  if (!type.quant) return unsupported("its operand has no per-tensor scale");
  const ir::Shape one(type.shape.size(), 1);
  const ValueId unit =
      constant(hint.name + (factor == 1 ? ".one" : ".factor"),
               ir::make_i8(one, std::vector<int8_t>{factor}), ir::per_tensor(1, 0));
  const auto scale = scale_for(ask.ratio, ask.zero_point);
  if (!scale) return unsupported("the multiplier {:.6g} exceeds 2^{}", ask.ratio, 31 - kShiftMin);
  THIMBLE_CHECK(check_precision(ask.ratio, *scale, 255, ask.codes()));
  ir::Attrs attrs = {{ir::attr::a_zp, int64_t{type.quant->zero_point[0]}},
                     {ir::attr::b_zp, int64_t{0}},
                     {ir::attr::mult, int64_t{scale->mult}},
                     {ir::attr::shift, int64_t{scale->shift}}};
  set_requantization_attrs(ask, &attrs);
  return rewriter_.to().add(OpKind::qmul, {x, unit}, std::move(attrs), op.source, hint);
}

Result<ValueId> Legalizer::emit_mean(const Op& op, const Requantization& ask,
                                     const ir::Graph::ResultHint& hint) {
  const double count = static_cast<double>(from_.type(op.inputs[0]).elements()) /
                       static_cast<double>(from_.type(op.output).elements());
  const double real = real_of(op.get(ir::attr::mult), op.get(ir::attr::shift)) * ask.ratio;
  return emit_scaled(op, OpKind::qmean, op.attrs, real, 255 * count, ask, hint);
}

/// A pool over the whole image becomes a mean. The windows of other pools must have equal sizes.
Result<ValueId> Legalizer::emit_pool(const Op& op, const Requantization& ask,
                                     const ir::Graph::ResultHint& hint) {
  const ir::Shape& x = from_.type(op.inputs[0]).shape;
  const ir::Shape& y = from_.type(op.output).shape;
  const int64_t zero_point = from_.type(op.inputs[0]).quant->zero_point[0];
  std::vector<int64_t> kernel(2), stride(2), padding(4, 0);
  if (op.kind == OpKind::qavg_pool2d) {
    kernel = op.get(ir::attr::kernel);
    stride = op.get(ir::attr::stride);
    padding = op.get(ir::attr::padding);
  } else {
    for (size_t i = 0; i < 2; ++i) {
      if (x[2 + i] % y[2 + i] != 0) {
        return unsupported(
            "windows over {} differ in size; supported: a {} that is a multiple of {}", x[2 + i],
            i == 0 ? "height" : "width", y[2 + i]);
      }
      kernel[i] = stride[i] = x[2 + i] / y[2 + i];
    }
  }
  const double area = static_cast<double>(kernel[0] * kernel[1]);
  const bool whole = kernel[0] == x[2] && kernel[1] == x[3] && y[2] == 1 && y[3] == 1;
  const bool pads = padding != std::vector<int64_t>(4, 0);
  if (whole && !pads) {
    return emit_scaled(op, OpKind::qmean,
                       {{ir::attr::dims, std::vector<int64_t>{2, 3}},
                        {ir::attr::keepdim, int64_t{1}},
                        {ir::attr::x_zp, zero_point}},
                       ask.ratio / area, 255 * area, ask, hint);
  }
  if (pads) {
    return unsupported("an average pool with padding {}; only 0 is supported",
                       ir::list_text(padding));
  }
  return emit_scaled(op, OpKind::qavg_pool2d,
                     {{ir::attr::kernel, kernel},
                      {ir::attr::stride, stride},
                      {ir::attr::padding, padding},
                      {ir::attr::x_zp, zero_point}},
                     ask.ratio / area, 255 * area, ask, hint);
}

/// Converts a maximum over height, width or both to a max pool over these dimensions.
Status Legalizer::maximum_over_image(const Op& op) {
  const ir::Shape& shape = from_.type(op.inputs[0]).shape;
  std::vector<int64_t> kernel = {1, 1};
  for (const int64_t dim : op.get(ir::attr::dims)) {
    if (shape.size() != 4 || dim < 2) {
      return unsupported("a maximum over dimension {} of {}: use height and width", dim,
                         shape.size());
    }
    kernel[static_cast<size_t>(dim - 2)] = shape[static_cast<size_t>(dim)];
  }
  ir::Graph::ResultHint hint = hint_of(op.output);
  const bool keeps_rank = from_.type(op.output).shape.size() == 4;
  if (!keeps_rank) hint = {hint.name + "_pool", {}, hint.quant};
  THIMBLE_TRY(ValueId made, rewriter_.to().add(OpKind::max_pool2d, {rewriter_.map(op.inputs[0])},
                                               {{ir::attr::kernel, kernel},
                                                {ir::attr::stride, std::vector<int64_t>(2, 1)},
                                                {ir::attr::padding, std::vector<int64_t>(4, 0)},
                                                {ir::attr::dilation, std::vector<int64_t>(2, 1)}},
                                               op.source, hint));
  if (!keeps_rank) {
    THIMBLE_TRY(made, rewriter_.to().add(OpKind::reshape, {made},
                                         {{ir::attr::shape, from_.type(op.output).shape}},
                                         op.source, hint_of(op.output)));
  }
  rewriter_.set(op.output, made);
  return ok();
}

}  // namespace thimble::engine::axon
