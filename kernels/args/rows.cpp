// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/rows.h"

namespace thimble::kernels {

Status check_rows(const Tensor& x, const Tensor& y, uint32_t dim) {
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  if (!same_sizes(x, y) || dim >= x.rank) return Status::kBadShape;
  int32_t steps[abi::kMaxRank];
  strides(x, steps);
  const bool innermost = steps[dim] == 1 || x.sizes[dim] == 1;
  return innermost && same_layout(x, y) ? Status::kOk : Status::kBadDimOrder;
}

}  // namespace thimble::kernels
