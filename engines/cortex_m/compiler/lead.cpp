// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/lead.h"

#include <algorithm>

namespace thimble::engine::cortex_m {
namespace {

bool keeps_order(ir::OpKind kind) {
  const ir::OpCategory category = ir::category_of(kind);
  return category == ir::OpCategory::kConv || category == ir::OpCategory::kPool;
}

bool in_rows(const ir::Type& type) {
  return type.shape.size() == 4 && type.shape[0] == 1 &&
         ir::same_memory(type.shape, type.dim_order, ir::channels_last_order());
}

}  // namespace

int64_t lead_of_rows(const Rows& rows) {
  int64_t lead = 0;
  for (int64_t r = 0; r < rows.out_rows; ++r) {
    const int64_t top = std::clamp<int64_t>(r * rows.stride - rows.pad_top, 0, rows.in_rows);
    lead = std::max(lead, (r + 1) * rows.out_row_bytes - top * rows.in_row_bytes);
  }
  return lead;
}

int64_t lead_of_pixels(int64_t pixels, int64_t in_bytes, int64_t out_bytes) {
  // The distance is a linear function of the block index: the first or last block has the maximum.
  const int64_t block = std::min(kBlockPixels, pixels);
  return std::max(block * out_bytes, pixels * out_bytes - (pixels - block) * in_bytes);
}

std::optional<int64_t> lead_of(const ir::Graph& graph, const ir::Op& op) {
  if (!keeps_order(op.kind)) return {};
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  if (!in_rows(x) || !in_rows(y)) return {};
  const auto element = static_cast<int64_t>(ir::dtype_bytes(x.dtype));
  const int64_t in_pixel = x.shape[1] * element, out_pixel = y.shape[1] * element;
  Rows rows;
  rows.in_rows = x.shape[2];
  rows.out_rows = y.shape[2];
  rows.in_row_bytes = x.shape[3] * in_pixel;
  rows.out_row_bytes = y.shape[3] * out_pixel;
  rows.stride = op.get(ir::attr::stride)[0];
  rows.pad_top = op.get(ir::attr::padding)[0];
  int64_t lead = lead_of_rows(rows);
  // A block of three pixels that begins in one row may end in the next row.
  if (op.kind == ir::OpKind::qconv2d) lead += 2 * out_pixel;
  // A pointwise convolution with stride 1: the operand has as many pixels as the result.
  if (x.shape[2] == y.shape[2] && x.shape[3] == y.shape[3]) {
    lead = std::max(lead, lead_of_pixels(x.shape[2] * x.shape[3], in_pixel, out_pixel));
  }
  if (lead >= static_cast<int64_t>(y.bytes())) return {};
  return lead;
}

}  // namespace thimble::engine::cortex_m
