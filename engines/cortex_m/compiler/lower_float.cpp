// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/lower_float.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engines/cortex_m/compiler/select_float.h"

namespace thimble::engine::cortex_m {
namespace {

/// Elements of a sum whose triangle of ones is one constant of the file.
constexpr int64_t kTriangleMax = 256;

using ir::Attrs;
using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

class Decomposer {
 public:
  explicit Decomposer(const ir::Graph& from) : rewriter_(from), from_(from) {}

  Result<ir::Graph> run() {
    for (const Op& op : from_.ops()) {
      op_ = &op;
      if (is_argmin(op)) {
        THIMBLE_TRY(const ValueId index, argmin());
        rewriter_.set(op.output, index);
        continue;
      }
      if (from_.type(op.output).dtype != ir::DType::kF32) {
        THIMBLE_CHECK(rewriter_.copy(op));
        continue;
      }
      THIMBLE_TRY(const ValueId result, convert());
      if (result == ir::kNoValue) {
        THIMBLE_CHECK(rewriter_.copy(op));
      } else {
        rewriter_.set(op.output, result);
      }
    }
    return rewriter_.finish();
  }

 private:
  ir::Graph& to() { return rewriter_.to(); }
  const Shape& shape(ValueId value) { return to().type(value).shape; }
  const Shape& result_shape() { return from_.type(op_->output).shape; }
  ValueId operand(size_t i) {
    const ValueId old_value = op_->inputs[i];
    return old_value == ir::kNoValue ? ir::kNoValue : rewriter_.map(old_value);
  }

  /// Adds an operator of the rewritten one's source line.
  Result<ValueId> step(OpKind kind, std::vector<ValueId> inputs, Attrs attrs = {}) {
    return to().add(kind, std::move(inputs), std::move(attrs), op_->source);
  }
  /// Adds the operator that computes the result.
  Result<ValueId> last(OpKind kind, std::vector<ValueId> inputs, Attrs attrs = {}) {
    const ir::Value& result = from_.value(op_->output);
    return to().add(kind, std::move(inputs), std::move(attrs), op_->source,
                    {result.name, result.type.dim_order, {}});
  }
  ValueId constant(const char* role, ir::Tensor tensor) {
    return to().add_constant(from_.value(op_->output).name + role,
                             std::make_shared<const ir::Tensor>(std::move(tensor)));
  }
  ValueId number(const char* role, double value) {
    return constant(role, ir::make_f32({}, std::vector<float>{static_cast<float>(value)}));
  }
  Result<ValueId> reshaped(ValueId value, const Shape& wanted) {
    if (shape(value) == wanted) return value;
    if (const ir::TensorPtr& known = to().value(value).constant) {
      ir::Tensor tensor = *known;
      tensor.shape = wanted;
      return constant("_reshaped", std::move(tensor));
    }
    return step(OpKind::reshape, {value}, {{ir::attr::shape, wanted}});
  }
  /// Returns one entry per channel, in the shape of a factor of the result.
  Result<ValueId> per_channel(ValueId value) {
    Shape wanted(result_shape().size() - 1, 1);
    wanted[0] = result_shape()[1];
    return reshaped(value, wanted);
  }

  /// Returns no value for an operator that has a kernel, or that is refused later.
  Result<ValueId> convert() {
    switch (op_->kind) {
      case OpKind::adaptive_max_pool2d:
        return adaptive_max_pool();
      case OpKind::pad:
        return pad();
      case OpKind::avg_pool2d:
        return avg_pool();
      case OpKind::batch_norm:
        return batch_norm();
      case OpKind::conv_transpose2d:
        return conv_transpose();
      case OpKind::cumsum:
        return cumsum();
      case OpKind::log_mel:
        return log_mel();
      case OpKind::matmul:
        return matmul();
      case OpKind::prelu:
        return prelu();
      case OpKind::resize_bilinear:
        return resize();
      default:
        return ir::kNoValue;
    }
  }

  bool is_argmin(const Op& op) {
    return op.kind == OpKind::argmax && op.get(ir::attr::smallest) != 0 &&
           from_.type(op.inputs[0]).dtype == ir::DType::kF32;
  }
  /// The position of the largest negated value.
  Result<ValueId> argmin() {
    THIMBLE_TRY(const ValueId negative, step(OpKind::mul, {operand(0), number("_sign", -1)}));
    Attrs attrs = op_->attrs;
    attrs.set(ir::attr::smallest, int64_t{0});
    return last(OpKind::argmax, {negative}, std::move(attrs));
  }

  /// Returns the maxima of `count` windows along one dimension, as PyTorch's adaptive pools place
  /// them.
  Result<ValueId> maxima_along(ValueId x, size_t dim, int64_t count) {
    const int64_t extent = shape(x)[dim], along = static_cast<int64_t>(dim);
    std::vector<ValueId> maxima;
    for (int64_t i = 0; i < count; ++i) {
      THIMBLE_TRY(const ValueId window,
                  step(OpKind::slice, {x},
                       {{ir::attr::dim, along},
                        {ir::attr::start, i * extent / count},
                        {ir::attr::end, ((i + 1) * extent + count - 1) / count}}));
      THIMBLE_TRY(const ValueId maximum, step(OpKind::amax, {window},
                                              {{ir::attr::dims, std::vector<int64_t>{along}},
                                               {ir::attr::keepdim, int64_t{1}}}));
      maxima.push_back(maximum);
    }
    if (count == 1) return maxima[0];
    return step(OpKind::concat, maxima, {{ir::attr::dim, along}});
  }
  /// Windows of one size are those of a max pool; others are maxima of rows, then of columns.
  Result<ValueId> adaptive_max_pool() {
    const ValueId x = operand(0);
    const Shape in = shape(x);
    const std::vector<int64_t> size = op_->get(ir::attr::size);
    if (in.size() != 4) return ir::kNoValue;
    if (in[2] % size[0] != 0 || in[3] % size[1] != 0) {
      THIMBLE_TRY(const ValueId rows, maxima_along(x, 2, size[0]));
      THIMBLE_TRY(const ValueId image, maxima_along(rows, 3, size[1]));
      return last(OpKind::copy, {image});
    }
    const std::vector<int64_t> window = {in[2] / size[0], in[3] / size[1]};
    return last(OpKind::max_pool2d, {x},
                {{ir::attr::kernel, window},
                 {ir::attr::stride, window},
                 {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                 {ir::attr::dilation, std::vector<int64_t>{1, 1}}});
  }

  /// A dimension that is not padded is merged into the one before it, so that the kernel's list of
  /// amounts is short enough.
  Result<ValueId> pad() {
    const ValueId x = operand(0);
    const Shape in = shape(x);
    const auto &before = op_->get(ir::attr::before), &after = op_->get(ir::attr::after);
    Shape merged;
    std::vector<int64_t> first, second;
    for (size_t d = 0; d < in.size(); ++d) {
      if (d > 0 && before[d] == 0 && after[d] == 0) {
        merged.back() *= in[d];
        first.back() *= in[d];
        second.back() *= in[d];
      } else {
        merged.push_back(in[d]);
        first.push_back(before[d]);
        second.push_back(after[d]);
      }
    }
    if (merged.size() == in.size()) return ir::kNoValue;
    THIMBLE_TRY(ValueId value, reshaped(x, merged));
    THIMBLE_TRY(value, step(OpKind::pad, {value},
                            {{ir::attr::before, first},
                             {ir::attr::after, second},
                             {ir::attr::value, op_->get(ir::attr::value)}}));
    return last(OpKind::reshape, {value}, {{ir::attr::shape, result_shape()}});
  }

  /// ATen's pool has one padding per axis. Others are sums by a convolution with weights of 1, in
  /// the same order, divided by the number of elements.
  Result<ValueId> avg_pool() {
    if (float_pool_fits(from_, *op_)) return ir::kNoValue;
    const Shape in = shape(operand(0)), out = result_shape();
    const auto kernel = op_->get(ir::attr::kernel), stride = op_->get(ir::attr::stride),
               padding = op_->get(ir::attr::padding);
    const auto inside = [&](size_t axis, int64_t at) {
      const int64_t first = at * stride[axis] - padding[axis];
      return std::min(first + kernel[axis], in[2 + axis]) - std::max(first, int64_t{0});
    };
    std::vector<float> counts;
    for (int64_t row = 0; row < out[2]; ++row) {
      for (int64_t column = 0; column < out[3]; ++column) {
        counts.push_back(static_cast<float>(inside(0, row) * inside(1, column)));
      }
    }
    const Shape window = {in[1], 1, kernel[0], kernel[1]};
    const std::vector<float> ones(static_cast<size_t>(ir::element_count(window)), 1.0F);
    const ValueId weights = constant("_ones", ir::make_f32(window, ones));
    THIMBLE_TRY(const ValueId sums, step(OpKind::conv2d, {operand(0), weights, ir::kNoValue},
                                         {{ir::attr::stride, stride},
                                          {ir::attr::padding, padding},
                                          {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                                          {ir::attr::groups, in[1]}}));
    return last(OpKind::div, {sums, constant("_counts", ir::make_f32({out[2], out[3]}, counts))});
  }

  /// The powers, the sums of the filters, and the logarithm, one after the other.
  Result<ValueId> log_mel() {
    THIMBLE_TRY(ValueId value, step(OpKind::power_spectrum, {operand(0), operand(1)},
                                    {{ir::attr::hop, op_->get(ir::attr::hop)}}));
    THIMBLE_TRY(value, step(OpKind::linear, {value, operand(2), ir::kNoValue}));
    THIMBLE_TRY(value,
                step(OpKind::clamp, {value}, {{ir::attr::float_min, op_->get(ir::attr::floor)}}));
    if (const double eps = op_->get(ir::attr::eps); eps != 0) {
      THIMBLE_TRY(value, step(OpKind::add, {value, number("_eps", eps)}));
    }
    THIMBLE_TRY(value, step(OpKind::log, {value}));
    THIMBLE_TRY(value, step(OpKind::mul, {value, number("_scale", op_->get(ir::attr::scale))}));
    return last(OpKind::add, {value, number("_offset", op_->get(ir::attr::float_offset))});
  }

  Result<ValueId> batch_norm() {
    THIMBLE_TRY(const ValueId scale, per_channel(operand(1)));
    THIMBLE_TRY(const ValueId shift, per_channel(operand(2)));
    THIMBLE_TRY(const ValueId product, step(OpKind::mul, {operand(0), scale}));
    return last(OpKind::add, {product, shift});
  }

  /// Returns true if no two windows of a transposed convolution overlap.
  bool is_disjoint() {
    const std::vector<int64_t> none2(2, 0), none4(4, 0), ones(2, 1);
    const Shape& w = shape(operand(1));
    const std::vector<int64_t> stride = op_->get(ir::attr::stride);
    return to().value(operand(1)).constant && stride[0] == w[2] && stride[1] == w[3] &&
           op_->get(ir::attr::dilation) == ones && op_->get(ir::attr::padding) == none4 &&
           op_->get(ir::attr::output_padding) == none2 && op_->get(ir::attr::groups) == 1;
  }
  /// Each pixel becomes a window: its elements are channels of a convolution of single pixels, and
  /// are then moved to their place. Its kernel needs about a tenth of the instructions.
  Result<ValueId> disjoint_conv_transpose() {
    const ir::Tensor& w = *to().value(operand(1)).constant;
    const Shape in = shape(operand(0)), window = w.shape;  // [I, O, kh, kw]
    const int64_t area = window[2] * window[3], rows = window[1] * area;
    std::vector<float> weights(w.data<float>().size());
    for (int64_t i = 0; i < window[0]; ++i) {
      for (int64_t row = 0; row < rows; ++row) {
        weights[static_cast<size_t>(row * window[0] + i)] =
            w.data<float>()[static_cast<size_t>(i * rows + row)];
      }
    }
    ValueId bias = ir::kNoValue;
    if (operand(2) != ir::kNoValue) {
      const ir::TensorPtr& known = to().value(operand(2)).constant;
      if (!known) return ir::kNoValue;
      std::vector<float> repeated;
      for (const float b : known->data<float>()) {
        repeated.insert(repeated.end(), static_cast<size_t>(area), b);
      }
      bias = constant("_bias", ir::make_f32({rows}, repeated));
    }
    const ValueId filters = constant("_filters", ir::make_f32({rows, window[0], 1, 1}, weights));
    THIMBLE_TRY(ValueId value, step(OpKind::conv2d, {operand(0), filters, bias},
                                    {{ir::attr::stride, std::vector<int64_t>{1, 1}},
                                     {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                                     {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                                     {ir::attr::groups, int64_t{1}}}));
    THIMBLE_TRY(value, reshaped(value, {in[0], window[1], window[2], window[3], in[2], in[3]}));
    THIMBLE_TRY(value, step(OpKind::permute, {value},
                            {{ir::attr::dims, std::vector<int64_t>{0, 1, 4, 2, 5, 3}}}));
    return last(OpKind::reshape, {value}, {{ir::attr::shape, result_shape()}});
  }
  /// ATen's convolution has one padding per axis.
  Result<ValueId> conv_transpose() {
    if (is_disjoint()) {
      THIMBLE_TRY(const ValueId result, disjoint_conv_transpose());
      if (result != ir::kNoValue) return result;
    }
    const std::vector<int64_t> padding = op_->get(ir::attr::padding);
    if (padding[0] == padding[2] && padding[1] == padding[3]) return ir::kNoValue;
    Attrs attrs = op_->attrs;
    attrs.set(ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0});
    THIMBLE_TRY(ValueId value, step(OpKind::conv_transpose2d, {operand(0), operand(1), operand(2)},
                                    std::move(attrs)));
    for (int64_t k = 0; k < 2; ++k) {
      const auto axis = static_cast<size_t>(k);
      const Attrs range = {{ir::attr::dim, 2 + k},
                           {ir::attr::start, padding[axis]},
                           {ir::attr::end, padding[axis] + result_shape()[2 + axis]}};
      THIMBLE_TRY(value, k == 1 ? last(OpKind::slice, {value}, range)
                                : step(OpKind::slice, {value}, range));
    }
    return value;
  }

  /// Returns the sums of the first elements of each row, each with its own element if `inclusive`:
  /// a product with a triangle of ones.
  Result<ValueId> partial_sums(ValueId x, bool inclusive) {
    const int64_t count = shape(x).back();
    std::vector<float> triangle(static_cast<size_t>(count * count), 0.0F);
    for (int64_t row = 0; row < count; ++row) {
      for (int64_t column = 0; column < row + (inclusive ? 1 : 0); ++column) {
        triangle[static_cast<size_t>(row * count + column)] = 1;
      }
    }
    const ValueId weights = constant("_triangle", ir::make_f32({count, count}, triangle));
    return step(OpKind::linear, {x, weights, ir::kNoValue});
  }
  /// Long rows are divided into blocks: the sums in each block, and the sums of the blocks before.
  Result<ValueId> sums_of_rows(ValueId x) {
    const Shape in = shape(x);
    const int64_t count = in.back(), rows = ir::element_count(in) / count;
    if (count <= kTriangleMax) return partial_sums(x, true);
    const auto block = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    const int64_t blocks = (count + block - 1) / block;
    THIMBLE_TRY(ValueId value, reshaped(x, {rows, count}));
    THIMBLE_TRY(value, step(OpKind::pad, {value},
                            {{ir::attr::before, std::vector<int64_t>{0, 0}},
                             {ir::attr::after, std::vector<int64_t>{0, blocks * block - count}},
                             {ir::attr::value, 0.0}}));
    THIMBLE_TRY(value, reshaped(value, {rows, blocks, block}));
    THIMBLE_TRY(value, partial_sums(value, true));
    THIMBLE_TRY(
        ValueId totals,
        step(OpKind::slice, {value},
             {{ir::attr::dim, int64_t{2}}, {ir::attr::start, block - 1}, {ir::attr::end, block}}));
    THIMBLE_TRY(totals, reshaped(totals, {rows, blocks}));
    THIMBLE_TRY(totals, partial_sums(totals, false));
    THIMBLE_TRY(totals, reshaped(totals, {rows, blocks, 1}));
    THIMBLE_TRY(value, step(OpKind::add, {value, totals}));
    THIMBLE_TRY(value, reshaped(value, {rows, blocks * block}));
    THIMBLE_TRY(
        value,
        step(OpKind::slice, {value},
             {{ir::attr::dim, int64_t{1}}, {ir::attr::start, int64_t{0}}, {ir::attr::end, count}}));
    return reshaped(value, in);
  }
  Result<ValueId> cumsum() {
    const ValueId x = operand(0);
    const Shape in = shape(x);
    if (in.empty()) return ir::kNoValue;
    const int64_t along = op_->get(ir::attr::dim);
    if (in[static_cast<size_t>(along)] > kTriangleMax * kTriangleMax) return ir::kNoValue;
    std::vector<int64_t> order(in.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap(order[static_cast<size_t>(along)], order.back());
    if (along + 1 == static_cast<int64_t>(in.size())) {
      THIMBLE_TRY(const ValueId sums, sums_of_rows(x));
      return last(OpKind::copy, {sums});
    }
    THIMBLE_TRY(ValueId value, step(OpKind::permute, {x}, {{ir::attr::dims, order}}));
    THIMBLE_TRY(value, sums_of_rows(value));
    return last(OpKind::permute, {value}, {{ir::attr::dims, order}});
  }

  /// Returns the operand as matrices [batch, rows, columns], repeated where it is broadcast.
  Result<ValueId> matrices(ValueId value, const Shape& batch, int64_t count) {
    const Shape own = shape(value);
    const Shape last_two(own.end() - 2, own.end());
    const Shape lead(own.begin(), own.end() - 2);
    if (lead != batch && ir::element_count(lead) != count) {
      Shape whole = batch;
      whole.insert(whole.end(), last_two.begin(), last_two.end());
      THIMBLE_TRY(value, step(OpKind::expand, {value}, {{ir::attr::shape, whole}}));
    }
    return reshaped(value, {count, last_two[0], last_two[1]});
  }
  /// A product of matrices [batch, M, K] and [batch, K, N], then a product with the scale.
  Result<ValueId> matmul() {
    ValueId a = operand(0), b = operand(1);
    if (shape(a).size() < 2 || shape(b).size() < 2) return ir::kNoValue;
    const double scale = op_->get(ir::attr::scale);
    const bool plain = shape(a).size() == 3 && shape(b).size() == 3 && shape(a)[0] == shape(b)[0] &&
                       op_->get(ir::attr::transpose_b) == 0;
    if (plain && scale == 1) return ir::kNoValue;
    const Shape& result = result_shape();
    const Shape batch(result.begin(), result.end() - 2);
    const int64_t count = ir::element_count(batch);
    THIMBLE_TRY(a, matrices(a, batch, count));
    THIMBLE_TRY(b, matrices(b, batch, count));
    if (op_->get(ir::attr::transpose_b) != 0) {
      THIMBLE_TRY(b, step(OpKind::permute, {b}, {{ir::attr::dims, std::vector<int64_t>{0, 2, 1}}}));
    }
    THIMBLE_TRY(ValueId product, step(OpKind::matmul, {a, b}));
    if (scale != 1) {
      THIMBLE_TRY(product, step(OpKind::mul, {product, number("_scale", scale)}));
    }
    return last(OpKind::reshape, {product}, {{ir::attr::shape, result}});
  }

  /// max(x, 0) + w min(x, 0). One of the terms is 0, so that the sum is exact.
  Result<ValueId> prelu() {
    const ValueId x = operand(0);
    THIMBLE_TRY(const ValueId positive, step(OpKind::clamp, {x}, {{ir::attr::float_min, 0.0}}));
    THIMBLE_TRY(const ValueId negative, step(OpKind::clamp, {x}, {{ir::attr::float_max, 0.0}}));
    THIMBLE_TRY(const ValueId scaled, step(OpKind::mul, {negative, operand(1)}));
    return last(OpKind::add, {positive, scaled});
  }

  /// Interpolates rows, then columns: each is a sum of two gathers with constant weights.
  Result<ValueId> resize() {
    const ValueId x = operand(0);
    const std::vector<int64_t> size = op_->get(ir::attr::size);
    THIMBLE_TRY(const ValueId rows, interpolated(x, 2, size[0], op_->get(ir::attr::scale_h)));
    THIMBLE_TRY(const ValueId image, interpolated(rows, 3, size[1], op_->get(ir::attr::scale_w)));
    return last(OpKind::copy, {image});
  }
  Result<ValueId> interpolated(ValueId x, size_t dim, int64_t size, double factor) {
    const int64_t extent = shape(x)[dim];
    std::vector<int32_t> low, high;
    std::vector<float> low_weight, high_weight;
    for (int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<double>(i);
      const auto in = static_cast<double>(extent), out = static_cast<double>(size);
      double source = (at + 0.5) * (factor > 0 ? 1 / factor : in / out) - 0.5;
      if (op_->get(ir::attr::align_corners) != 0) {
        source = out > 1 ? at * (in - 1) / (out - 1) : 0;
      }
      source = std::max(source, 0.0);
      const double first = std::min(std::floor(source), in - 1);
      const double weight = std::min(source - first, 1.0);
      low.push_back(static_cast<int32_t>(first));
      high.push_back(static_cast<int32_t>(std::min(first + 1, in - 1)));
      low_weight.push_back(static_cast<float>(1 - weight));
      high_weight.push_back(static_cast<float>(weight));
    }
    Shape factor_shape(4 - dim, 1);
    factor_shape[0] = size;
    const auto term = [&](const std::vector<int32_t>& index,
                          const std::vector<float>& weight) -> Result<ValueId> {
      THIMBLE_TRY(const ValueId picked,
                  step(OpKind::gather, {x, constant("_index", ir::make_i32({size}, index))},
                       {{ir::attr::dim, static_cast<int64_t>(dim)}}));
      return step(OpKind::mul, {picked, constant("_weight", ir::make_f32(factor_shape, weight))});
    };
    THIMBLE_TRY(const ValueId first, term(low, low_weight));
    THIMBLE_TRY(const ValueId second, term(high, high_weight));
    return step(OpKind::add, {first, second});
  }

  ir::Rewriter rewriter_;
  const ir::Graph& from_;
  const Op* op_ = nullptr;  // the operator that is rewritten
};

}  // namespace

Result<ir::Graph> lower_float(const ir::Graph& graph) {
  return Decomposer(graph).run();
}

}  // namespace thimble::engine::cortex_m
