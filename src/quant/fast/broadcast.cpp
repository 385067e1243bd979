// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/broadcast.h"

namespace thimble::quant {

JointStrides join(const ir::Shape& shape, const eval::OperandStrides& a,
                  const eval::OperandStrides& b) {
  JointStrides walk;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    // The previous dimension is merged with this one if its strides equal this one's extent.
    if (!walk.sizes.empty() && walk.steps_a.back() == a[i] * shape[i] &&
        walk.steps_b.back() == b[i] * shape[i]) {
      walk.sizes.back() *= shape[i];
      walk.steps_a.back() = a[i];
      walk.steps_b.back() = b[i];
      continue;
    }
    walk.sizes.push_back(shape[i]);
    walk.steps_a.push_back(a[i]);
    walk.steps_b.push_back(b[i]);
  }
  if (walk.sizes.empty()) walk = {{1}, {0}, {0}};
  return walk;
}

}  // namespace thimble::quant
