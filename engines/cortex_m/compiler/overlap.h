#pragma once
// Which results may lie over their operand, and how far below it they must begin.
//
// Kernels of windows keep an order: rows of the result are written from top to bottom, and while
// one is written no row of the image above its own window is read again. A convolution of single
// pixels may instead take the image as one long row, in blocks of at most kBlockPixels that ascend.
// Whatever a kernel does within a row, or a block, what it has still to read lies above what it has
// written if the result begins so many bytes before the operand that this holds for every row and
// every block. Tested by tests/unit/overlap_test.cpp, which plays the worst such kernel.

#include <cstdint>
#include <optional>

#include "ir/graph.h"

namespace thimble::engine::cortex_m {

inline constexpr int64_t kBlockPixels = 8;

/// Rows of an image in and out of a window.
struct Rows {
  int64_t in_rows = 0, out_rows = 0;
  int64_t in_row_bytes = 0, out_row_bytes = 0;
  int64_t stride = 1, pad_top = 0;
};

/// Bytes from the result's first to the operand's, for which the rows' order is enough.
[[nodiscard]] int64_t lead_of_rows(const Rows& rows);
/// The same for `pixels` that each become one, in ascending blocks.
[[nodiscard]] int64_t lead_of_pixels(int64_t pixels, int64_t in_bytes, int64_t out_bytes);

/// KernelCall::lead of a native call for this operator.
[[nodiscard]] std::optional<int64_t> overlap_lead(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
