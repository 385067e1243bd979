// SPDX-License-Identifier: Apache-2.0
#include "ir/transposed_filters.h"

namespace thimble::ir {

Tensor transposed_conv_filters(const Tensor& w, int64_t groups) {
  const Shape shape = w.shape;
  Tensor split = w;
  split.shape = {groups, shape[0] / groups, shape[1], shape[2], shape[3]};
  Tensor swapped = permuted(split, std::vector<int64_t>{0, 2, 1, 3, 4});
  swapped.shape = {groups * shape[1], shape[0] / groups, shape[2], shape[3]};
  return swapped;
}

}  // namespace thimble::ir
