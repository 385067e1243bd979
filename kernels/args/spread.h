#pragma once
// Operands that broadcast as in numpy, of any element type: by logical shape, aligned at the last
// dimension, each with its own order of dimensions.

#include "kernels/args/operands.h"
#include "kernels/args/walk.h"

namespace thimble::kernels {

/// a and b, each sound, make the shape of y.
Status check_spread(const Tensor& a, const Tensor& b, const Tensor& y);
/// y, a, b; steps in elements; y runs through its memory in order.
Walk spread(const Tensor& y, const Tensor& a, const Tensor& b);

/// Both float32 of one shape.
Status check_floats(const Tensor& x, const Tensor& y);

inline const float* floats(const Tensor& t) {
  return static_cast<const float*>(t.data);
}
inline float* mutable_floats(const Tensor& t) {
  return static_cast<float*>(t.data);
}

}  // namespace thimble::kernels
