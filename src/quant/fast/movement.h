// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data movement and max pooling for any element type, in the kernel tables of the float engine and
// the integer engine.

#include <initializer_list>
#include <utility>

#include "quant/fast/executor.h"

namespace thimble::quant {

/// Returns a table with `rows` and the kernels that the float and the integer engine share: data
/// movement and max_pool2d.
[[nodiscard]] KernelTable with_shared_kernels(
    std::initializer_list<std::pair<ir::OpKind, Kernel>> rows);

/// The positions of a pooling window that are inside the image, and the traversal of its plane.
struct PoolWindow {
  int64_t planes, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, top, left;
};
[[nodiscard]] PoolWindow pool_window_of(const eval::Call& call);

/// Calls visit(result index, first element, rows, row stride, columns, column stride) for each
/// window.
template <typename Visit>
void for_each_window(const PoolWindow& w, Visit visit) {
  const auto range = [](int64_t start, int64_t kernel, int64_t dilation, int64_t size) {
    const int64_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
    const int64_t fitting = (size - 1 - start) / dilation + 1;
    const int64_t last = fitting < kernel ? fitting : kernel;
    return std::pair(start + first * dilation, last - first);
  };
  int64_t index = 0;
  for (int64_t plane = 0; plane < w.planes; ++plane) {
    for (int64_t oh = 0; oh < w.out_h; ++oh) {
      const auto [ih, rows] = range(oh * w.stride_h - w.top, w.kernel_h, w.dilation_h, w.in_h);
      for (int64_t ow = 0; ow < w.out_w; ++ow) {
        const auto [iw, columns] =
            range(ow * w.stride_w - w.left, w.kernel_w, w.dilation_w, w.in_w);
        visit(index++, (plane * w.in_h + ih) * w.in_w + iw, rows, w.in_w * w.dilation_h, columns,
              w.dilation_w);
      }
    }
  }
}

}  // namespace thimble::quant
