#pragma once
// conv2d_scalar_int4 and linear_scalar_int4 on any core (abi/matmul_scalar.h). Four channels share
// a load of x.

#include "kernels/args/conv_scalar.h"
#include "kernels/portable/int4.h"

namespace thimble::kernels {

struct ScalarWeights {
  const void* packed;
  uint32_t channels, depth;
  int32_t y_zero_point, min, max;

  /// Sums wrap.
  int8_t* codes(const int8_t* x, int8_t* y) const;
};

}  // namespace thimble::kernels
