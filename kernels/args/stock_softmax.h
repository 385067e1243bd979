// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of cortex_m::softmax: x, dim, x_zero_point (cancels), y_zero_point (-128), mult, shift,
// diff_min, y.

#include "kernels/args/operands.h"
#include "numerics/softmax.h"

namespace thimble::kernels {

Status check_stock_softmax(const Call& call);

/// Returns the dimension; a negative one counts from the end. An invalid one stays out of range.
inline uint32_t softmax_dimension(const Call& call) {
  const int32_t dim = integer(call, 1);
  return static_cast<uint32_t>(dim < 0 ? dim + tensor(call, 0).rank : dim);
}

/// Calls row(softmax, x, count, y) for each row.
template <class Row>
void for_each_softmax_row(const Call& call, Row row) {
  const Tensor& x = tensor(call, 0);
  const numerics::Softmax softmax = {integer(call, 4), integer(call, 5), integer(call, 6)};
  const int32_t length = x.sizes[softmax_dimension(call)];
  const int32_t count = elements(x);
  for (int32_t i = 0; i < count; i += length) {
    row(softmax, codes(x) + i, length, mutable_codes(tensor(call, 7)) + i);
  }
}

}  // namespace thimble::kernels
