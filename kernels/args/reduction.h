#pragma once
// Reductions over any set of dimensions, in any order of dimensions: how the elements of x belong
// to those of y.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/walk.h"

namespace thimble::kernels {

/// Rows longer than this would bring sums out of their words (docs/numerics.md).
inline constexpr int64_t kMaxReduced = (int64_t{1} << 23) - 1;

/// y has the dimensions of x in `mask` as 1, or dropped. Both are sound; x has all of `mask`.
Status check_reduced_sizes(const Tensor& x, const Tensor& y, uint32_t mask);
/// Elements of x for each of y; below 2^31.
int64_t reduced_count(const Tensor& x, uint32_t mask);

/// For every position of `kept` (offset 0 in y, offset 1 in x), `reduced` visits its elements of x
/// (offset 1, from there).
struct Reduction {
  Walk kept, reduced;

  Reduction(const Tensor& x, const Tensor& y, uint32_t mask);
};

/// Calls each(first element, count, step) for all runs of one set.
template <class T, class Each>
void for_each_run(Walk& reduced, const T* x, Each each) {
  do {
    const Walk::Axis& row = reduced.row();
    each(x + reduced.offset[1], row.extent, row.step[1]);
  } while (reduced.next());
}

/// Calls each(position in y, the set's first element) for all elements of y.
template <class T, class Each>
void for_each_result(Reduction& reduction, const T* x, Each each) {
  Walk& kept = reduction.kept;
  do {
    const Walk::Axis& row = kept.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      each(kept.offset[0] + i * row.step[0], x + kept.offset[1] + i * row.step[1]);
    }
  } while (kept.next());
}

}  // namespace thimble::kernels
