// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stride iterator over up to three operands, each with its own strides: layout changes,
// broadcasting, slices. The caller pushes axes from outermost to innermost. Axes that are
// contiguous in every operand are coalesced, so that the common cases become a single flat loop.
//
//   StrideIterator iterator;
//   for (...) iterator.push(extent, step_of_y, step_of_a, step_of_b);
//   do {
//     const StrideIterator::Axis& row = iterator.row();  // innermost axis: a plain loop
//     ...iterator.offset[k] + i * row.step[k]...
//   } while (iterator.next());

#include <cstdint>

#include "abi/limits.h"

namespace thimble::kernels {

struct StrideIterator {
  struct Axis {
    int32_t extent = 1;
    int32_t step[3] = {};
  };
  Axis axes[abi::kMaxRank];
  int32_t index[abi::kMaxRank] = {};
  int32_t offset[3] = {};
  uint32_t rank = 1;

  const Axis& row() const { return axes[rank - 1]; }
  void push(int32_t extent, int32_t step0, int32_t step1, int32_t step2 = 0);
  /// Advances to the next row. Returns false after the last row and resets the offsets.
  bool next();
};

}  // namespace thimble::kernels
