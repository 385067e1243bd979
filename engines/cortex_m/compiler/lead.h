// SPDX-License-Identifier: Apache-2.0
#pragma once
// Determines which results may overlap their operand, and the minimum distance (lead) by which the
// result must begin before the operand.
//
// Kernels of window operators guarantee an order. They write result rows from top to bottom. While
// they write a row, they do not read image rows above its window. A pointwise convolution may
// instead process the image as one row of pixels, in ascending blocks of at most kBlockPixels. The
// order within a row or block is not defined. With the lead, everything that a kernel still reads
// is above everything it has written, for every row and block. Tested by
// tests/unit/lead_test.cpp with a worst-case kernel.

#include <cstdint>
#include <optional>

#include "ir/graph.h"

namespace thimble::engine::cortex_m {

inline constexpr int64_t kBlockPixels = 8;

/// Rows of a window operator's image and result.
struct Rows {
  int64_t in_rows = 0, out_rows = 0;
  int64_t in_row_bytes = 0, out_row_bytes = 0;
  int64_t stride = 1, pad_top = 0;
};

/// Returns the lead in bytes that is sufficient if only the order of rows is guaranteed.
[[nodiscard]] int64_t lead_of_rows(const Rows& rows);
/// Returns the lead for `pixels` pixels that are each converted to one, in ascending blocks.
[[nodiscard]] int64_t lead_of_pixels(int64_t pixels, int64_t in_bytes, int64_t out_bytes);

/// Returns KernelCall::lead for a native call of this operator.
[[nodiscard]] std::optional<int64_t> lead_of(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
