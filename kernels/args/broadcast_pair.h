// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of any element type that broadcast as in numpy: by logical shape, aligned at the last
// dimension, each with its own dim_order.

#include "kernels/args/operands.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

/// Checks that a and b, both sound, broadcast to the shape of y.
Status check_broadcast_pair(const Tensor& a, const Tensor& b, const Tensor& y);
/// Returns a traversal of y, a, b with steps in elements; y is traversed in memory order.
StrideIterator broadcast_pair(const Tensor& y, const Tensor& a, const Tensor& b);

/// Checks that both are float32 and have the same shape.
Status check_floats(const Tensor& x, const Tensor& y);

inline const float* floats(const Tensor& t) {
  return static_cast<const float*>(t.data);
}
inline float* mutable_floats(const Tensor& t) {
  return static_cast<float*>(t.data);
}

}  // namespace thimble::kernels
