// SPDX-License-Identifier: Apache-2.0
// Legalizes weighted operators, products of activations, and clamped linear functions.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engines/neutron/compiler/clamped_linear.h"
#include "engines/neutron/compiler/legalizer.h"
#include "engines/neutron/compiler/limits.h"
#include "ir/transposed_filters.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::Tensor;
using ir::ValueId;

/// LiteRT's FULLY_CONNECTED rounds once; its other operators round twice.
Status Legalizer::linear(const Op& op) {
  ir::Attrs attrs = op.attrs;
  if (op.get(ir::attr::rounding) == 0) attrs.set(ir::attr::rounding, int64_t{1});
  return finish(op, op.kind, rewriter_.map(op.inputs), attrs);
}

// --- groups ------------------------------------------------------------------------------------

/// A grouped convolution with filters [O, I/groups, kh, kw]. `merged` groups form one convolution;
/// its filters are zero for channels of the other merged groups.
struct Legalizer::Groups {
  Tensor filters;
  int64_t count = 1, merged = 1;

  [[nodiscard]] int64_t in() const { return filters.shape[1]; }           // channels per group
  [[nodiscard]] int64_t out() const { return filters.shape[0] / count; }  // channels per group
  [[nodiscard]] int64_t taps() const { return filters.shape[2] * filters.shape[3]; }
  [[nodiscard]] int64_t pieces() const { return count / merged; }
};

namespace {

/// Returns the number of groups per convolution with the fewest steps, then fewest convolutions.
int64_t groups_to_merge(int64_t count, int64_t in, int64_t out, int64_t taps) {
  int64_t best = 1, least = count * round_up_to_group(in) * round_up_to_group(out);
  for (int64_t merged = 2; merged <= count; ++merged) {
    if (count % merged != 0 || taps * round_up_to_group(merged * in) > kProductsMax) continue;
    const int64_t steps =
        count / merged * round_up_to_group(merged * in) * round_up_to_group(merged * out);
    if (steps > least) continue;
    least = steps;
    best = merged;
  }
  return best;
}

/// Returns entries [from, from + count) of dimension 0; a tensor with one common entry stays as is.
Tensor rows(const Tensor& tensor, int64_t from, int64_t count) {
  if (tensor.shape[0] == 1) return tensor;
  Shape shape = tensor.shape;
  const size_t each = tensor.bytes.size() / static_cast<size_t>(shape[0]);
  shape[0] = count;
  Tensor part = ir::zeros(tensor.dtype, shape);
  std::memcpy(part.bytes.data(), tensor.bytes.data() + static_cast<size_t>(from) * each,
              part.bytes.size());
  return part;
}

std::optional<ir::Quant> rows(const std::optional<ir::Quant>& quant, int64_t from, int64_t count) {
  if (!quant || quant->scale.size() <= 1) return quant;
  ir::Quant part;
  part.axis = quant->axis;
  for (int64_t i = from; i < from + count; ++i) {
    part.scale.push_back(quant->scale[static_cast<size_t>(i)]);
    part.zero_point.push_back(quant->zero_point[static_cast<size_t>(i)]);
  }
  return part;
}

}  // namespace

Result<ValueId> Legalizer::add_group(const Op& op, const Groups& groups, const ir::Attrs& attrs,
                                     int64_t index) {
  const int64_t ins = groups.merged * groups.in(), outs = groups.merged * groups.out();
  const std::string ending = fmt::format("_group{}", index);
  const ir::Attrs part = {{ir::attr::dim, int64_t{1}},
                          {ir::attr::start, index * ins},
                          {ir::attr::end, (index + 1) * ins}};
  ValueId x = rewriter_.map(op.inputs[0]);
  if (groups.pieces() > 1) {
    THIMBLE_TRY(x, add_inner(op, OpKind::slice, {x}, part, ending + "_in", type(op, 0)));
  }
  const int64_t each = groups.in() * groups.taps();
  Tensor filters =
      ir::zeros(ir::DType::kI8, {outs, ins, groups.filters.shape[2], groups.filters.shape[3]});
  for (int64_t o = 0; o < outs; ++o) {
    const int64_t place = o * ins * groups.taps() + o / groups.out() * each;
    std::memcpy(filters.bytes.data() + place,
                groups.filters.bytes.data() + (index * outs + o) * each, static_cast<size_t>(each));
  }
  if (op.kind == OpKind::qconv_transpose2d) filters = ir::transposed_conv_filters(filters, 1);
  std::vector<ValueId> inputs = {x, constant(op, ending + ".w", std::move(filters),
                                             rows(type(op, 1).quant, index * outs, outs))};
  constexpr std::string_view kNames[] = {".b", ".mult", ".shift"};
  for (size_t i = 2; i < 5; ++i) {
    const Tensor* given = tensor(op, i);
    inputs.push_back(given == nullptr ? ir::kNoValue
                                      : constant(op, ending + std::string(kNames[i - 2]),
                                                 rows(*given, index * outs, outs),
                                                 rows(type(op, i).quant, index * outs, outs)));
  }
  if (groups.pieces() == 1) {
    return rewriter_.to().add(op.kind, std::move(inputs), attrs, op.source, hint_of(op));
  }
  return add_inner(op, op.kind, std::move(inputs), attrs, ending, from_.type(op.output));
}

Status Legalizer::add_groups(const Op& op, const Groups& groups, ir::Attrs attrs) {
  attrs.set(ir::attr::groups, int64_t{1});
  std::vector<ValueId> parts;
  for (int64_t i = 0; i < groups.pieces(); ++i) {
    THIMBLE_TRY(const ValueId part, add_group(op, groups, attrs, i));
    parts.push_back(part);
  }
  if (parts.size() > 1) return finish(op, OpKind::concat, parts, {{ir::attr::dim, int64_t{1}}});
  rewriter_.set(op.output, parts[0]);
  return ok();
}

Status Legalizer::convolution(const Op& op) {
  const int64_t count = op.get(ir::attr::groups);
  const Tensor* w = tensor(op, 1);
  if (count == 1 || w == nullptr) return rewriter_.copy(op);
  const int64_t channels = type(op, 0).shape[1];
  if (count == channels && w->shape[0] == channels) return rewriter_.copy(op);  // depthwise
  Groups groups{*w, count, 1};
  groups.merged = groups_to_merge(count, groups.in(), groups.out(), groups.taps());
  return add_groups(op, groups, op.attrs);
}

/// LiteRT's operator has no output_padding. It equals less padding at the end.
Status Legalizer::transposed_convolution(const Op& op) {
  const Tensor* w = tensor(op, 1);
  if (w == nullptr) return rewriter_.copy(op);
  if (!is_within_limits(op)) return phases(op);
  const auto& extra = op.get(ir::attr::output_padding);
  auto padding = op.get(ir::attr::padding);
  for (const size_t side : {size_t{0}, size_t{1}}) padding[2 + side] -= extra[side];
  ir::Attrs attrs = op.attrs;
  attrs.set(ir::attr::padding, padding);
  attrs.set(ir::attr::output_padding, std::vector<int64_t>{0, 0});
  const int64_t count = op.get(ir::attr::groups);
  if (count == 1) return finish(op, op.kind, rewriter_.map(op.inputs), attrs);
  Groups groups{ir::transposed_conv_filters(*w, count), count, 1};
  groups.merged = groups_to_merge(count, groups.in(), groups.out(), groups.taps());
  return add_groups(op, groups, attrs);
}

// --- products of activations -------------------------------------------------------------------

namespace {

/// Collapses all dimensions before the matrices into one.
Shape as_three(const Shape& shape) {
  const auto last = shape.end() - 2;
  return {ir::element_count(Shape(shape.begin(), last)), last[0], last[1]};
}

}  // namespace

/// If the second operand is one matrix, the matrices of the first become rows of one matrix.
Status Legalizer::matmul(const Op& op) {
  Shape a = as_three(type(op, 0).shape);
  const Shape b = as_three(type(op, 1).shape);
  Shape y = as_three(from_.type(op.output).shape);
  if (b[0] == 1) {
    a = {1, a[0] * a[1], a[2]};
    y = {1, y[0] * y[1], y[2]};
  }
  THIMBLE_TRY(const ValueId left, reshaped(op, rewriter_.map(op.inputs[0]), a, "_a", type(op, 0)));
  THIMBLE_TRY(const ValueId right, reshaped(op, rewriter_.map(op.inputs[1]), b, "_b", type(op, 1)));
  if (y == from_.type(op.output).shape) return finish(op, op.kind, {left, right}, op.attrs);
  THIMBLE_TRY(const ValueId made,
              add_inner(op, op.kind, {left, right}, op.attrs, "_product", from_.type(op.output)));
  return finish(op, OpKind::reshape, {made}, {{ir::attr::shape, from_.type(op.output).shape}});
}

// --- clamped linear functions ------------------------------------------------------------------

/// Legalizes a clamped linear function as a 1x1 depthwise convolution. An image keeps its shape;
/// for other shapes the last dimension becomes the channels.
Status Legalizer::clamped_linear_as_convolution(const Op& op) {
  const auto function = clamped_linear_of(from_, op);
  if (!function) return rewriter_.copy(op);
  const ir::Type &x = type(op, 0), &y = from_.type(op.output);
  const int64_t last = x.shape.empty() ? 1 : x.shape.back();
  const Shape image = x.shape.size() == 4 ? x.shape : Shape{x.elements() / last, last, 1, 1};
  const int64_t channels = image[1];
  Tensor weights = ir::zeros(ir::DType::kI8, {channels, 1, 1, 1});
  std::ranges::fill(weights.data<int8_t>(), static_cast<int8_t>(function->weight));
  Tensor bias = ir::zeros(ir::DType::kI32, {channels});
  std::ranges::fill(bias.data<int32_t>(), function->bias);
  std::optional<ir::Quant> weight_scale;
  if (x.quant && y.quant) {
    const double real = std::ldexp(static_cast<double>(function->mult), function->shift - 31);
    weight_scale = ir::per_tensor(real * y.quant->scale[0] / x.quant->scale[0], 0);
  }
  const std::vector<ValueId> inputs = {
      rewriter_.map(op.inputs[0]), constant(op, ".w", std::move(weights), weight_scale),
      constant(op, ".b", std::move(bias)),
      constant(op, ".mult", ir::make_i32({1}, std::vector<int32_t>{function->mult})),
      constant(op, ".shift", ir::make_i32({1}, std::vector<int32_t>{function->shift}))};
  const ir::Attrs attrs = {{ir::attr::stride, std::vector<int64_t>{1, 1}},
                           {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                           {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                           {ir::attr::groups, channels},
                           {ir::attr::x_zp, int64_t{function->x_zero}},
                           {ir::attr::y_zp, int64_t{function->y_zero}},
                           {ir::attr::min, int64_t{function->min}},
                           {ir::attr::max, int64_t{function->max}}};
  if (image == x.shape) return finish(op, OpKind::qconv2d, inputs, attrs);
  std::vector<ValueId> there = inputs;
  THIMBLE_TRY(there[0], reshaped(op, inputs[0], image, "_picture", x));
  THIMBLE_TRY(const ValueId made, add_inner(op, OpKind::qconv2d, there, attrs, "_line", y));
  return finish(op, OpKind::reshape, {made}, {{ir::attr::shape, y.shape}});
}

/// Legalizes -x as 0 - x if the scale does not change, otherwise as a function.
Status Legalizer::negated(const Op& op) {
  const ir::Type &x = type(op, 0), &y = from_.type(op.output);
  if (!x.quant || !y.quant || x.quant->scale != y.quant->scale)
    return clamped_linear_as_convolution(op);
  // y = y_zero - (x - x_zero), with 20 fractional bits: both factors and the result are exact.
  constexpr int64_t kHalf = int64_t{1} << 30;
  const int64_t zero = x.quant->zero_point[0];
  const ir::Attrs attrs = {{ir::attr::a_zp, zero},
                           {ir::attr::a_mult, kHalf},
                           {ir::attr::a_shift, int64_t{0}},
                           {ir::attr::b_zp, zero},
                           {ir::attr::b_mult, kHalf},
                           {ir::attr::b_shift, int64_t{0}},
                           {ir::attr::y_zp, int64_t{y.quant->zero_point[0]}},
                           {ir::attr::y_mult, kHalf},
                           {ir::attr::y_shift, int64_t{-18}},
                           {ir::attr::min, int64_t{-128}},
                           {ir::attr::max, int64_t{127}}};
  const std::vector<int8_t> code = {static_cast<int8_t>(zero)};
  const ValueId zero_constant = constant(op, ".zero", ir::make_i8({1}, code), x.quant);
  return finish(op, OpKind::qsub, {zero_constant, rewriter_.map(op.inputs[0])}, attrs);
}

}  // namespace thimble::engine::neutron
