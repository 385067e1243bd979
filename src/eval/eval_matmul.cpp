// SPDX-License-Identifier: Apache-2.0
// Matrix products of two non-constant operands. Leading dimensions are batches and broadcast.

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Calls f(result index, a index, b index, b stride) for every element of the result. The indices
/// are those of the first term of its sum; the stride in a is 1. The number of terms is the number
/// of columns of a.
template <typename F>
void for_each_dot(const Call& call, F f) {
  const ir::Shape& shape = call.output.shape;
  ir::Shape a = call.shape(0);
  ir::Shape b = call.shape(1);
  const int64_t depth = a.back();
  const bool transposed = call.get(ir::attr::transpose_b) != 0;
  // Each operand is indexed with the result's shape: an element selects a row of a, a column of b.
  const int64_t row_step = depth;
  const int64_t column_step = transposed ? depth : 1;
  const int64_t b_term_step = transposed ? 1 : b.back();
  const auto batch_steps = [&](const ir::Shape& from) {
    ir::Shape batch = from;
    batch[batch.size() - 2] = batch[batch.size() - 1] = 1;
    ir::Shape whole = shape;
    whole[whole.size() - 2] = whole[whole.size() - 1] = 1;
    OperandStrides steps = broadcast_strides(batch, whole);
    const int64_t matrix = from[from.size() - 2] * from[from.size() - 1];
    for (int64_t& step : steps) step *= matrix;
    return steps;
  };
  OperandStrides a_steps = batch_steps(a);
  OperandStrides b_steps = batch_steps(b);
  a_steps[shape.size() - 2] = row_step;
  a_steps[shape.size() - 1] = 0;
  b_steps[shape.size() - 2] = 0;
  b_steps[shape.size() - 1] = column_step;
  for_each<2>(shape, {a_steps, b_steps}, [&](size_t i, const std::array<int64_t, 2>& offset) {
    f(i, offset[0], offset[1], b_term_step);
  });
}

}  // namespace

void eval_matmul(const Call& call) {
  const auto a = call.input<float>(0);
  const auto b = call.input<float>(1);
  const int64_t depth = call.shape(0).back();
  const double scale = call.op.get(ir::attr::scale);
  for_each_dot(call, [&](size_t i, int64_t a_first, int64_t b_first, int64_t b_step) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += static_cast<double>(a[static_cast<size_t>(a_first + k)]) *
             static_cast<double>(b[static_cast<size_t>(b_first + k * b_step)]);
    }
    call.result<float>()[i] = static_cast<float>(sum * scale);
  });
}

void eval_qmatmul(const Call& call) {
  const auto a = call.input<int8_t>(0);
  const auto b = call.input<int8_t>(1);
  const int64_t depth = call.shape(0).back();
  const int64_t a_zp = call.get(ir::attr::a_zp);
  const int64_t b_zp = call.get(ir::attr::b_zp);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const Rounding rounding = rounding_of(call);
  const auto store = clamped_store(call);
  for_each_dot(call, [&](size_t i, int64_t a_first, int64_t b_first, int64_t b_step) {
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += (a[static_cast<size_t>(a_first + k)] - a_zp) *
             (b[static_cast<size_t>(b_first + k * b_step)] - b_zp);
    }
    store(i, wrap32(requantize(sum, mult, shift, rounding) + y_zp));
  });
}

void eval_qmatmul16(const Call& call) {
  const auto a = call.input<int16_t>(0);
  const auto b = call.input<int16_t>(1);
  const int64_t depth = call.shape(0).back();
  const int64_t mult = call.get(ir::attr::mult);
  const int64_t shift = call.get(ir::attr::shift);
  const auto store = clamped_store(call);
  for_each_dot(call, [&](size_t i, int64_t a_first, int64_t b_first, int64_t b_step) {
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += int64_t{a[static_cast<size_t>(a_first + k)]} *
             b[static_cast<size_t>(b_first + k * b_step)];
    }
    store(i, requantize64(sum, mult, shift));
  });
}

}  // namespace thimble::eval
