// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of packed operators (abi/params/window.h). Each check covers a whole
// kernel family, costs some hundred instructions at load and reads no per-channel data. The arrays
// of a packed constant may contain any values; kernels stay inside their operands for all of them.

#include <cstdint>

#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "kernels/args/operands.h"
#include "kernels/args/requant.h"

namespace thimble::kernels {

inline const abi::WindowGeometry& window_geometry(const void* constant) {
  return *static_cast<const abi::WindowGeometry*>(constant);
}
/// Requires check_window().
inline const abi::WindowGeometry& window_geometry(const Tensor& constant) {
  return window_geometry(constant.data);
}

/// Checks that x and y are int8 images of batch 1 in NHWC with exactly the sizes of the geometry.
/// Kernel, stride and dilation must be at least 1; zero points and bounds must be in the int8
/// range. Padding must be smaller than the window on all four sides, so that without dilation each
/// window overlaps the image; with dilation all taps of a window may be in the padding. Rows and
/// columns times dilation must be below 2^31 bytes.
Status check_window(const Tensor& x, const Tensor& geometry, const Tensor& y);

/// As check_window(); in addition channel o of y depends only on channel o / (out_c / in_c) of x.
Status check_depthwise_window(const Tensor& x, const Tensor& geometry, const Tensor& y);

inline const abi::LinearGeometry& linear_geometry(const void* constant) {
  return *static_cast<const abi::LinearGeometry*>(constant);
}
/// Checks that x and y are contiguous int8 rows with exactly the count and lengths of the geometry,
/// and that zero points and bounds are in the int8 range.
Status check_linear_geometry(const Tensor& x, const Tensor& geometry, const Tensor& y);

/// Checks the scratch of a call: at least `bytes` long, at a multiple of `alignment`.
Status check_scratch(const Tensor& scratch, int64_t bytes, uint32_t alignment = 4);

/// Returns the size of the taps of one window in bytes of x. check_window() does not bound it to 32
/// bits.
inline int64_t window_bytes(const abi::WindowGeometry& g) {
  return int64_t{g.kernel_h * g.kernel_w} * g.in_c;
}

}  // namespace thimble::kernels
