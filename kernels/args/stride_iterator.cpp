// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

void StrideIterator::push(int32_t extent, int32_t step0, int32_t step1, int32_t step2) {
  if (extent == 1) return;
  Axis* outer = &axes[rank - 1];
  if (outer->extent != 1) {
    const bool melts = outer->step[0] == extent * step0 && outer->step[1] == extent * step1 &&
                       outer->step[2] == extent * step2;
    if (melts) {
      extent *= outer->extent;
    } else {
      outer = &axes[rank++];
    }
  }
  outer->extent = extent;
  outer->step[0] = step0;
  outer->step[1] = step1;
  outer->step[2] = step2;
}

bool StrideIterator::next() {
  for (uint32_t d = rank - 1; d-- > 0;) {
    const Axis& axis = axes[d];
    const bool more = ++index[d] < axis.extent;
    if (!more) index[d] = 0;
    const int32_t count = more ? 1 : 1 - axis.extent;
    for (uint32_t k = 0; k < 3; ++k) offset[k] += count * axis.step[k];
    if (more) return true;
  }
  return false;
}

}  // namespace thimble::kernels
