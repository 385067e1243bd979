// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/plan.h"

#include <algorithm>

namespace thimble::engine::ethos_u {

int64_t place_bytes(const NpuTensor& tensor, Format format, int64_t rows) {
  const int64_t depth =
      format == Format::kNhcwb16 ? (tensor.shape.c + 15) / 16 * 16 : tensor.shape.c;
  return rows * tensor.shape.w * depth * (tensor.element.bits / 8);
}

InputRows input_rows(const NpuOp& op, IndexRange rows) {
  InputRows result;
  const int64_t height = op.ifm.shape.h;
  if (op.kind == NpuOpKind::kResize || op.kind == NpuOpKind::kDma) {
    result.rows = {0, height};
    return result;
  }
  if (!has_window(op)) {
    result.rows = height == 1 ? IndexRange{0, 1} : rows;
    return result;
  }
  const Window& window = op.window;
  const int64_t scale = op.upscale == Upscale::kNone ? 1 : 2;
  const int64_t dilated = (window.kernel_h - 1) * window.dilation_h + 1;
  const int64_t first = rows.begin * window.stride_h - window.pad_top;
  const int64_t end = (rows.end - 1) * window.stride_h + dilated - window.pad_top;
  result.pad_top = std::max<int64_t>(0, -first);
  result.pad_bottom = std::max<int64_t>(0, end - height * scale);
  const int64_t top = std::max<int64_t>(0, first);
  result.rows.begin = top / scale;
  result.rows.end = std::min(height, (end + scale - 1) / scale);
  return result;
}

IndexRange second_input_rows(const NpuOp& op, IndexRange rows) {
  const int64_t height = op.ifm2->shape.h;
  if (op.kind != NpuOpKind::kElementwise) return {0, height};
  return height == 1 ? IndexRange{0, 1} : rows;
}

int64_t pad_right(const NpuOp& op) {
  if (!has_window(op)) return 0;
  const Window& window = op.window;
  const int64_t scale = op.upscale == Upscale::kNone ? 1 : 2;
  const int64_t dilated = (window.kernel_w - 1) * window.dilation_w + 1;
  const int64_t end = (op.ofm.shape.w - 1) * window.stride_w + dilated - window.pad_left;
  return std::max<int64_t>(0, end - op.ifm.shape.w * scale);
}

}  // namespace thimble::engine::ethos_u
