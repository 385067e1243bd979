// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random shapes and parameters of samples.

#include <cstdint>

#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

inline Sizes small(Random& random, size_t rank) {
  Sizes sizes;
  for (size_t d = 0; d < rank; ++d) sizes.push_back(uniform(random, 1, 5));
  return sizes;
}

inline int64_t zero_point(Random& random) {
  return uniform(random, -128, 127);
}
inline int64_t mult(Random& random) {
  return uniform(random, 1 << 30, INT32_MAX);
}
inline int64_t shift(Random& random) {
  return uniform(random, -12, 2);
}

}  // namespace thimble::kernels::test
