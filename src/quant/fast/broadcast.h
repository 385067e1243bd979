// SPDX-License-Identifier: Apache-2.0
#pragma once
// y = f(a, b) with numpy broadcasting. Adjacent dimensions with compatible strides are merged
// first, so that the common cases (equal shapes, a scalar, one number per channel) are one or two
// plain loops.

#include <cstdint>
#include <vector>

#include "eval/call.h"

namespace thimble::quant {

/// Joint traversal of a shape with the strides of two operands. Dimensions are merged; the last one
/// is the innermost.
struct JointStrides {
  std::vector<int64_t> sizes, steps_a, steps_b;
};
[[nodiscard]] JointStrides join(const ir::Shape& shape, const eval::OperandStrides& a,
                                const eval::OperandStrides& b);

template <typename A, typename B, typename Y, typename F>
void inner_loop(const A* a, int64_t step_a, const B* b, int64_t step_b, Y* y, int64_t count, F f) {
  if (step_a == 1 && step_b == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = f(a[i], b[i]);
  } else if (step_a == 1 && step_b == 0) {
    const B fixed = *b;
    for (int64_t i = 0; i < count; ++i) y[i] = f(a[i], fixed);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = f(a[i * step_a], b[i * step_b]);
  }
}

template <typename T, typename F>
void broadcast(const eval::Call& call, F f) {
  const ir::Shape& shape = call.output.shape;
  const JointStrides walk = join(shape, eval::broadcast_strides(call.shape(0), shape),
                                 eval::broadcast_strides(call.shape(1), shape));
  const T* a = call.input<T>(0).data();
  const T* b = call.input<T>(1).data();
  T* y = call.result<T>().data();
  const size_t last = walk.sizes.size() - 1;
  std::vector<int64_t> index(walk.sizes.size(), 0);
  const int64_t outer = ir::element_count(shape) / walk.sizes[last];
  for (int64_t i = 0; i < outer; ++i, y += walk.sizes[last]) {
    inner_loop(a, walk.steps_a[last], b, walk.steps_b[last], y, walk.sizes[last], f);
    for (size_t dim = last; dim-- > 0;) {
      a += walk.steps_a[dim];
      b += walk.steps_b[dim];
      if (++index[dim] < walk.sizes[dim]) break;
      a -= walk.steps_a[dim] * walk.sizes[dim];
      b -= walk.steps_b[dim] * walk.sizes[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace thimble::quant
