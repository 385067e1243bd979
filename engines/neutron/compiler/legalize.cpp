// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/legalize.h"

#include <algorithm>

#include "engines/neutron/compiler/clamped_linear.h"
#include "engines/neutron/compiler/legalizer.h"
#include "engines/neutron/compiler/limits.h"
#include "engines/neutron/compiler/positions.h"
#include "interchange/table_function.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

Result<ir::Graph> Legalizer::run() {
  for (const Op& op : from_.ops()) {
    const Status added = add(op);
    if (added.ok()) continue;
    return prefixed(ir::op_name(op.kind), added.error());
  }
  return rewriter_.finish();
}

/// Checks the limits of the N3-64, which all NPUs of the family have. An NPU with narrower limits
/// rejects the legalized operator later.
bool Legalizer::is_within_limits(const Op& op) const {
  return violated_row_text(from_, op, Variant::kN3_64).empty();
}

Status Legalizer::add(const Op& op) {
  if (op.kind != OpKind::qconv_transpose2d && !is_within_limits(op)) return rewriter_.copy(op);
  switch (op.kind) {
    case OpKind::adaptive_max_pool2d:
    case OpKind::qadaptive_avg_pool2d:
      return adaptive_pool(op);
    case OpKind::expand:
      return expand(op);
    case OpKind::gather:
      return gather(op);
    case OpKind::lut:
      return table(op);
    case OpKind::qconv2d:
      return convolution(op);
    case OpKind::qconv_transpose2d:
      return transposed_convolution(op);
    case OpKind::qlinear:
      return linear(op);
    case OpKind::qmatmul:
      return matmul(op);
    case OpKind::rescale:
      return clamped_linear_as_convolution(op);
    case OpKind::slice:
      return slice(op);
    default:
      return rewriter_.copy(op);
  }
}

/// A table that an operator of LiteRT computes stays. A clamped linear function becomes a
/// convolution.
Status Legalizer::table(const Op& op) {
  const auto function = interchange::recognize_table_function(from_, op);
  if (function && function->kind == interchange::Function::Kind::kNeg) return negated(op);
  if (function && function->kind != interchange::Function::Kind::kRescale)
    return rewriter_.copy(op);
  return clamped_linear_as_convolution(op);
}

// --- pools -------------------------------------------------------------------------------------

Status Legalizer::adaptive_pool(const Op& op) {
  const Shape &from = type(op, 0).shape, &to = from_.type(op.output).shape;
  std::vector<int64_t> window;
  for (const size_t dim : {size_t{2}, size_t{3}}) {
    window.push_back(from[dim] / to[dim]);
  }
  ir::Attrs attrs = {{ir::attr::kernel, window},
                     {ir::attr::stride, window},
                     {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}}};
  if (op.kind == OpKind::adaptive_max_pool2d) {
    attrs.set(ir::attr::dilation, std::vector<int64_t>{1, 1});
    return finish(op, OpKind::max_pool2d, {rewriter_.map(op.inputs[0])}, attrs);
  }
  attrs.set(ir::attr::min, op.get(ir::attr::min));
  attrs.set(ir::attr::max, op.get(ir::attr::max));
  return finish(op, OpKind::qavg_pool2d, {rewriter_.map(op.inputs[0])}, attrs);
}

// --- data movement -----------------------------------------------------------------------------

/// Expands one dimension at a time, the innermost first, because then the least data is copied.
Status Legalizer::expand(const Op& op) {
  const Shape& to = from_.type(op.output).shape;
  Shape now = type(op, 0).shape;
  ValueId x = rewriter_.map(op.inputs[0]);
  now.insert(now.begin(), to.size() - now.size(), 1);
  if (now != type(op, 0).shape) {
    if (now == to) return finish(op, OpKind::reshape, {x}, {{ir::attr::shape, to}});
    THIMBLE_TRY(x, reshaped(op, x, now, "_dims", type(op, 0)));
  }
  if (now == to) return finish(op, OpKind::copy, {x}, {});
  for (size_t dim = to.size(); dim-- > 0;) {
    if (now[dim] == to[dim]) continue;
    const std::vector<ValueId> parts(static_cast<size_t>(to[dim]), x);
    now[dim] = to[dim];
    const ir::Attrs attrs = {{ir::attr::dim, static_cast<int64_t>(dim)}};
    if (now == to) return finish(op, OpKind::concat, parts, attrs);
    THIMBLE_TRY(x, add_inner(op, OpKind::concat, parts, attrs, "_repeated", type(op, 0)));
  }
  return ok();
}

/// Legalizes a slice with a step: reshapes [n * step] to [n, step] and slices one column. If the
/// last row is incomplete, its element is sliced separately.
Status Legalizer::slice(const Op& op) {
  const int64_t step = op.get(ir::attr::step), start = op.get(ir::attr::start),
                dim = op.get(ir::attr::dim);
  if (step == 1) return rewriter_.copy(op);
  const ValueId x = rewriter_.map(op.inputs[0]);
  const int64_t size = type(op, 0).shape[static_cast<size_t>(dim)];
  const int64_t count = from_.type(op.output).shape[static_cast<size_t>(dim)];
  const auto cut = [&](int64_t first, int64_t length) -> ir::Attrs {
    return {{ir::attr::dim, dim}, {ir::attr::start, first}, {ir::attr::end, first + length}};
  };
  if (count == 1) return finish(op, OpKind::slice, {x}, cut(start, 1));
  const bool whole = count * step <= size;
  const int64_t rows = whole ? count : count - 1;
  const int64_t first = std::min(start, size - rows * step);
  ValueId column = x;
  if (rows * step < size) {
    THIMBLE_TRY(column,
                add_inner(op, OpKind::slice, {x}, cut(first, rows * step), "_rows", type(op, 0)));
  }
  Shape split = shape_of(column);
  split[static_cast<size_t>(dim)] = rows;
  split.insert(split.begin() + dim + 1, step);
  THIMBLE_TRY(column, reshaped(op, column, split, "_steps", type(op, 0)));
  const ir::Attrs one = {{ir::attr::dim, dim + 1},
                         {ir::attr::start, start - first},
                         {ir::attr::end, start - first + 1}};
  THIMBLE_TRY(column, add_inner(op, OpKind::slice, {column}, one, "_column", type(op, 0)));
  split.erase(split.begin() + dim + 1);
  if (whole) return finish(op, OpKind::reshape, {column}, {{ir::attr::shape, split}});
  THIMBLE_TRY(column, reshaped(op, column, split, "_taken", type(op, 0)));
  THIMBLE_TRY(const ValueId last,
              add_inner(op, OpKind::slice, {x}, cut(start + rows * step, 1), "_last", type(op, 0)));
  return finish(op, OpKind::concat, {column, last}, {{ir::attr::dim, dim}});
}

/// An index whose rank is not 1 is used as a flat list of positions.
Status Legalizer::gather(const Op& op) {
  const auto positions = positions_of(from_, op);
  if (!positions) return rewriter_.copy(op);
  const ValueId x = rewriter_.map(op.inputs[0]);
  const Shape &from = type(op, 0).shape, &to = from_.type(op.output).shape;
  if (positions->kind == Positions::Kind::kSegments) return segments(op, positions->segments);
  if (positions->kind != Positions::Kind::kRepeated) return rewriter_.copy(op);
  const auto place = from.begin() + op.get(ir::attr::dim) + 1;
  const Shape once = {ir::element_count(Shape(from.begin(), place)), 1,
                      ir::element_count(Shape(place, from.end()))};
  THIMBLE_TRY(const ValueId rows, reshaped(op, x, once, "_rows", type(op, 0)));
  const std::vector<ValueId> parts(static_cast<size_t>(positions->times), rows);
  THIMBLE_TRY(const ValueId all, add_inner(op, OpKind::concat, parts, {{ir::attr::dim, int64_t{1}}},
                                           "_repeated", type(op, 0)));
  return finish(op, OpKind::reshape, {all}, {{ir::attr::shape, to}});
}

Status Legalizer::segments(const Op& op, std::span<const Positions::Segment> segments) {
  const ValueId x = rewriter_.map(op.inputs[0]);
  const Shape& from = type(op, 0).shape;
  const int64_t dim = op.get(ir::attr::dim);
  std::vector<ValueId> parts;
  for (const Positions::Segment& segment : segments) {
    parts.push_back(x);
    if (segment.start == 0 && segment.end == from[static_cast<size_t>(dim)]) continue;
    const ir::Attrs attrs = {
        {ir::attr::dim, dim}, {ir::attr::start, segment.start}, {ir::attr::end, segment.end}};
    if (segments.size() == 1 && has_flat_index(op)) return finish(op, OpKind::slice, {x}, attrs);
    THIMBLE_TRY(parts.back(), add_inner(op, OpKind::slice, {x}, attrs, "_part", type(op, 0)));
  }
  const ir::Attrs along = {{ir::attr::dim, dim}};
  if (has_flat_index(op)) {
    if (parts.size() == 1) return finish(op, OpKind::copy, parts, {});
    return finish(op, OpKind::concat, parts, along);
  }
  ValueId all = parts[0];
  if (parts.size() > 1) {
    THIMBLE_TRY(all, add_inner(op, OpKind::concat, parts, along, "_list", type(op, 0)));
  }
  return finish(op, OpKind::reshape, {all}, {{ir::attr::shape, from_.type(op.output).shape}});
}

bool Legalizer::has_flat_index(const Op& gather) const {
  return type(gather, 1).shape.size() == 1;
}

// --- helpers -----------------------------------------------------------------------------------

const ir::Tensor* Legalizer::tensor(const Op& op, size_t i) const {
  return op.inputs[i] == ir::kNoValue ? nullptr : from_.value(op.inputs[i]).constant.get();
}

ir::Graph::ResultHint Legalizer::hint_of(const Op& op) const {
  const ir::Value& value = from_.value(op.output);
  return {value.name, value.type.dim_order, value.type.quant};
}

ir::Graph::ResultHint Legalizer::inner_hint(const Op& op, std::string_view ending,
                                            const ir::Type& like) const {
  return {from_.value(op.output).name + std::string(ending), {}, like.quant};
}

Result<ValueId> Legalizer::add_inner(const Op& op, OpKind kind, std::vector<ValueId> inputs,
                                     ir::Attrs attrs, std::string_view ending,
                                     const ir::Type& like) {
  return rewriter_.to().add(kind, std::move(inputs), std::move(attrs), op.source,
                            inner_hint(op, ending, like));
}

Status Legalizer::finish(const Op& op, OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs) {
  THIMBLE_TRY(const ValueId made, rewriter_.to().add(kind, std::move(inputs), std::move(attrs),
                                                     op.source, hint_of(op)));
  rewriter_.set(op.output, made);
  return ok();
}

Result<ValueId> Legalizer::reshaped(const Op& op, ValueId x, const Shape& shape,
                                    std::string_view ending, const ir::Type& like) {
  if (shape_of(x) == shape) return x;
  return add_inner(op, OpKind::reshape, {x}, {{ir::attr::shape, shape}}, ending, like);
}

ValueId Legalizer::constant(const Op& op, std::string_view ending, ir::Tensor tensor,
                            std::optional<ir::Quant> quant) {
  return rewriter_.to().add_constant(from_.value(op.output).name + std::string(ending),
                                     std::make_shared<ir::Tensor>(std::move(tensor)),
                                     std::move(quant));
}

Result<ir::Graph> legalize(const ir::Graph& subgraph) {
  return Legalizer(subgraph).run();
}

}  // namespace thimble::engine::neutron
