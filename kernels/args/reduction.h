// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reductions over any set of dimensions, in any dim_order: maps the elements of x to those of y.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

/// Maximum length of a row; the sums of longer rows could overflow (docs/numerics.md).
inline constexpr int64_t kMaxReduced = (int64_t{1} << 23) - 1;

/// Checks that y has the sizes of x, with the dimensions in `mask` as 1 or dropped. Both must be
/// sound, and x must have all dimensions in `mask`.
Status check_reduced_sizes(const Tensor& x, const Tensor& y, uint32_t mask);
/// Returns the number of elements of x for each element of y; it is below 2^31.
int64_t reduced_count(const Tensor& x, uint32_t mask);

/// Two traversals. Each position of `kept` is an element of y (offset 0) and the first element of
/// its group in x (offset 1). `reduced` visits the elements of a group (offset 1, relative to the
/// first).
struct Reduction {
  StrideIterator kept, reduced;

  Reduction(const Tensor& x, const Tensor& y, uint32_t mask);
};

/// Calls each(first element, count, step) for all runs of one group.
template <class T, class Each>
void for_each_run(StrideIterator& reduced, const T* x, Each each) {
  do {
    const StrideIterator::Axis& row = reduced.row();
    each(x + reduced.offset[1], row.extent, row.step[1]);
  } while (reduced.next());
}

/// Calls each(position in y, first element of the group) for all elements of y.
template <class T, class Each>
void for_each_result(Reduction& reduction, const T* x, Each each) {
  StrideIterator& kept = reduction.kept;
  do {
    const StrideIterator::Axis& row = kept.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      each(kept.offset[0] + i * row.step[0], x + kept.offset[1] + i * row.step[1]);
    }
  } while (kept.next());
}

}  // namespace thimble::kernels
