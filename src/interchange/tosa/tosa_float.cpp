// SPDX-License-Identifier: Apache-2.0
// Operators on float operands, in TOSA's floating-point profile. Sums have TOSA's order, and a
// division is a product with RECIPROCAL, so results equal the evaluator's up to rounding.

#include <algorithm>
#include <bit>
#include <limits>

#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::OpKind;
using ir::Shape;

namespace {

/// Returns the dimensions first .. rank - 1.
std::vector<int> last_axes(size_t rank, int64_t count) {
  std::vector<int> axes;
  for (size_t i = rank - static_cast<size_t>(count); i < rank; ++i)
    axes.push_back(static_cast<int>(i));
  return axes;
}

}  // namespace

Status TosaLowering::lower_float() {
  switch (op_->kind) {
    case OpKind::conv2d:
      return convolution();
    case OpKind::conv_transpose2d:
      return transposed_convolution();
    case OpKind::linear:
      return linear();
    case OpKind::matmul:
      return matmul();
    case OpKind::add:
      return float_pair(Op::kAdd);
    case OpKind::sub:
      return float_pair(Op::kSub);
    case OpKind::mul:
      return float_pair(Op::kMul);
    case OpKind::div: {
      const DimOrder order = common_order();
      const int inverse = b_.unary(Op::kReciprocal, broadcastable(1, order));
      return put(b_.mul(broadcastable(0, order), inverse), order);
    }
    case OpKind::clamp:
      return float_clamp();
    case OpKind::prelu: {
      const DimOrder order = common_order();
      const int x = broadcastable(0, order);
      const int below = b_.mul(x, broadcastable(1, order));
      return put(b_.select(b_.greater_equal(x, b_.same_rank_float(x, 0)), x, below), order);
    }
    case OpKind::avg_pool2d:
      return pool();
    case OpKind::adaptive_avg_pool2d:
    case OpKind::adaptive_max_pool2d:
      return adaptive_pool();
    case OpKind::softmax:
    case OpKind::log_softmax:
      return float_softmax();
    case OpKind::layer_norm:
    case OpKind::rms_norm:
      return float_norm();
    case OpKind::group_norm:
      return float_group_norm();
    case OpKind::mean:
    case OpKind::sum:
    case OpKind::variance:
      return float_statistics();
    case OpKind::cumsum:
      return running_sum();
    case OpKind::gather_elements:
      return gather_elements();
    case OpKind::quantize:
      return refuse("a quantized model: --emit tosa writes its integer graph");
    case OpKind::resize_bilinear:
      return refuse(
          "TOSA's RESIZE takes scales as ratios of integers, which torch's scales are not");
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::rnn:
      return refuse("recurrent layers are written in integers only, with --emit tosa");
    default:
      return float_function();
  }
}

Status TosaLowering::float_pair(Op op) {
  const DimOrder order = common_order();
  const int a = broadcastable(0, order), b = broadcastable(1, order);
  return put(op == Op::kMul ? b_.mul(a, b) : b_.binary(op, a, b), order);
}

Status TosaLowering::float_clamp() {
  const DimOrder order = layouts_.existing(operand(0));
  const int x = operand_in(0, order);
  const auto bits = [](double bound) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    return std::bit_cast<int32_t>(static_cast<float>(std::clamp(bound, -kLargest, kLargest)));
  };
  const formats::tosa::ClampAttr attr{DType::kFp32, bits(get(ir::attr::float_min)),
                                      bits(get(ir::attr::float_max))};
  return put(b_.emit(Op::kClamp, attr, {x}, DType::kFp32, b_.shape(x)), order);
}

Status TosaLowering::float_function() {
  const DimOrder order = layouts_.existing(operand(0));
  const int x = operand_in(0, order);
  const auto simple = [&](Op op) { return put(b_.unary(op, x), order); };
  const auto power = [&](double exponent) {
    return b_.binary(Op::kPow, x, b_.same_rank_float(x, exponent));
  };
  switch (op_->kind) {
    case OpKind::abs:
      return simple(Op::kAbs);
    case OpKind::cos:
      return simple(Op::kCos);
    case OpKind::erf:
      return simple(Op::kErf);
    case OpKind::exp:
      return simple(Op::kExp);
    case OpKind::floor:
      return simple(Op::kFloor);
    case OpKind::log:
      return simple(Op::kLog);
    case OpKind::rsqrt:
      return simple(Op::kRsqrt);
    case OpKind::sigmoid:
      return simple(Op::kSigmoid);
    case OpKind::sin:
      return simple(Op::kSin);
    case OpKind::tanh:
      return simple(Op::kTanh);
    case OpKind::sqrt:
      return put(power(0.5), order);
    case OpKind::pow:
      // POW of a negative number is not defined: the square is a product.
      if (get(ir::attr::exponent) == 2) return put(b_.mul(x, x), order);
      return put(power(get(ir::attr::exponent)), order);
    case OpKind::batch_norm: {
      THIMBLE_TRY(const ir::Tensor* scale, constant_content(1));
      THIMBLE_TRY(const ir::Tensor* shift, constant_content(2));
      Shape each(b_.shape(x).size(), 1);
      each[static_cast<size_t>(Layouts::position(order, 1))] = scale->shape[0];
      const int product = b_.mul(x, b_.constant(DType::kFp32, each, scale->bytes));
      return put(b_.add(product, b_.constant(DType::kFp32, each, shift->bytes)), order);
    }
    default:
      return refuse("it has no lowering to floating-point TOSA operators");
  }
}

Status TosaLowering::float_softmax() {
  const DimOrder order = layouts_.existing(operand(0));
  const int axis = Layouts::position(order, get(ir::attr::dim));
  const int x = operand_in(0, order);
  const int below = b_.sub(x, b_.reduce(Op::kReduceMax, x, axis));
  const int powers = b_.unary(Op::kExp, below);
  const int sum = b_.reduce(Op::kReduceSum, powers, axis);
  if (op_->kind == OpKind::log_softmax) return put(b_.sub(below, b_.unary(Op::kLog, sum)), order);
  return put(b_.mul(powers, b_.unary(Op::kReciprocal, sum)), order);
}

int TosaLowering::float_mean(int x, const std::vector<int>& axes) {
  int64_t count = 1;
  for (const int axis : axes) {
    count *= b_.shape(x)[static_cast<size_t>(axis)];
    x = b_.reduce(Op::kReduceSum, x, axis);
  }
  return b_.times_float(x, 1.0 / static_cast<double>(count));
}

/// Returns x, minus its mean if `centered`, over the root of its mean square plus `eps`.
int TosaLowering::normalized(int x, const std::vector<int>& axes, bool centered) {
  if (centered) x = b_.sub(x, float_mean(x, axes));
  const int square = float_mean(b_.mul(x, x), axes);
  const int root = b_.unary(Op::kRsqrt, b_.add(square, b_.same_rank_float(x, get(ir::attr::eps))));
  return b_.mul(x, root);
}

Status TosaLowering::float_norm() {
  const size_t rank = shape(0).size();
  int y = normalized(logical(0), last_axes(rank, get(ir::attr::last_dims)),
                     op_->kind == OpKind::layer_norm);
  if (has(1)) y = b_.mul(y, b_.reshape(logical(1), with_rank(shape(1), rank)));
  if (has(2)) y = b_.add(y, b_.reshape(logical(2), with_rank(shape(2), rank)));
  return put(y);
}

Status TosaLowering::float_group_norm() {
  const Shape& s = shape(0);
  const int64_t groups = get(ir::attr::groups), count = ir::element_count(s);
  const int x = b_.reshape(logical(0), {s[0], groups, count / (s[0] * groups)});
  int y = b_.reshape(normalized(x, {2}, true), s);
  Shape each(s.size(), 1);
  each[1] = s[1];
  if (has(1)) y = b_.mul(y, b_.reshape(logical(1), each));
  if (has(2)) y = b_.add(y, b_.reshape(logical(2), each));
  return put(y);
}

/// Mean, sum and variance.
Status TosaLowering::float_statistics() {
  const DimOrder order = layouts_.existing(operand(0));
  int x = operand_in(0, order);
  std::vector<int> axes;
  int64_t count = 1;
  for (const int64_t dim : get(ir::attr::dims)) {
    axes.push_back(Layouts::position(order, dim));
    count *= shape(0)[static_cast<size_t>(dim)];
  }
  double divisor = static_cast<double>(count);
  if (op_->kind == OpKind::sum) divisor = 1;
  if (op_->kind == OpKind::variance) {
    divisor -= get(ir::attr::correction);
    if (divisor <= 0) return refuse("its divisor is not above 0");
    x = b_.sub(x, float_mean(x, axes));
    x = b_.mul(x, x);
  }
  for (const int axis : axes) x = b_.reduce(Op::kReduceSum, x, axis);
  return put_reduced(divisor == 1 ? x : b_.times_float(x, 1 / divisor), order);
}

}  // namespace thimble::interchange
