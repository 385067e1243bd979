// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loop nests over views of equal dimensions. Levels are merged where strides allow it: two dense
// images of any shape are a single row.

#include "engines/neutron/container/program.h"

namespace thimble::neutron::model {

/// Computes byte offsets from element [0, 0, ...] of each view, not pointers. Strides may be
/// negative, and a pointer outside its memory must never be formed.
template <uint32_t kViews>
class Loops {
 public:
  Loops() = default;

  /// Adds an inner level. It is merged with the level before if that is possible in every view.
  void add(uint32_t count, const int32_t (&steps)[kViews]) {
    if (count == 1) return;
    if (levels_ != 0 && continues(count, steps)) {
      counts_[levels_ - 1] *= count;
    } else {
      counts_[levels_++] = count;
    }
    for (uint32_t v = 0; v < kViews; ++v) steps_[levels_ - 1][v] = steps[v];
  }

  /// Calls `row(at, count, steps)` for every row, with the outer levels as outer loops.
  template <class Row>
  void for_rows(Row row) const {
    static constexpr int32_t kNoSteps[kViews] = {};
    int32_t at[kViews] = {};
    if (levels_ == 0) return row(at, uint32_t{1}, kNoSteps);
    const uint32_t last = levels_ - 1;
    uint32_t position[kRankMax] = {};
    for (;;) {
      row(at, counts_[last], steps_[last]);
      uint32_t level = last;
      for (;; --level) {
        if (level == 0) return;
        const uint32_t outer = level - 1;
        if (++position[outer] < counts_[outer]) {
          for (uint32_t v = 0; v < kViews; ++v) at[v] += steps_[outer][v];
          break;
        }
        position[outer] = 0;
        for (uint32_t v = 0; v < kViews; ++v) {
          at[v] -= static_cast<int32_t>(counts_[outer] - 1) * steps_[outer][v];
        }
      }
    }
  }

 private:
  [[nodiscard]] bool continues(uint32_t count, const int32_t (&steps)[kViews]) const {
    for (uint32_t v = 0; v < kViews; ++v) {
      if (steps_[levels_ - 1][v] != int64_t{steps[v]} * count) return false;
    }
    return true;
  }

  uint32_t levels_ = 0;
  uint32_t counts_[kRankMax] = {};
  int32_t steps_[kRankMax][kViews] = {};
};

/// Returns loops over the dimensions [from, to) of the views.
inline Loops<1> loops_over(const View& a, uint32_t from, uint32_t to) {
  Loops<1> loops;
  for (uint32_t k = from; k < to; ++k) loops.add(a.dims[k], {a.strides[k]});
  return loops;
}
inline Loops<2> loops_over(const View& a, const View& b, uint32_t from, uint32_t to) {
  Loops<2> loops;
  for (uint32_t k = from; k < to; ++k) loops.add(a.dims[k], {a.strides[k], b.strides[k]});
  return loops;
}
inline Loops<3> loops_over(const View& a, const View& b, const View& c) {
  Loops<3> loops;
  for (uint32_t k = 0; k < a.rank; ++k) {
    loops.add(a.dims[k], {a.strides[k], b.strides[k], c.strides[k]});
  }
  return loops;
}

}  // namespace thimble::neutron::model
