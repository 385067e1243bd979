#pragma once
// Checks of packed operators (abi/native_params.h, WindowGeometry). They hold for a whole family,
// cost some hundred instructions at load and look at no channel: what lies in the arrays of packed
// constants may be anything, and kernels stay inside their operands all the same.

#include <cstdint>

#include "abi/native_params.h"
#include "kernels/args/operands.h"
#include "kernels/args/requant.h"

namespace thimble::kernels {

inline const abi::WindowGeometry& window_geometry(const void* constant) {
  return *static_cast<const abi::WindowGeometry*>(constant);
}
/// Valid after check_window().
inline const abi::WindowGeometry& window_geometry(const Tensor& constant) {
  return window_geometry(constant.data);
}

/// x and y are int8 images of batch 1 in NHWC with just the sizes that the geometry says; kernel,
/// stride and dilation are at least 1; zero points and bounds are codes. Padding is smaller than
/// the window on all four sides, so that without dilation each window meets the image; with
/// dilation all taps of a window may be in the padding. Rows and columns times dilation stay below
/// 2^31 bytes.
Status check_window(const Tensor& x, const Tensor& geometry, const Tensor& y);

/// As check_window(), and channel o of y is made of channel o / (out_c / in_c) of x alone.
Status check_depthwise_window(const Tensor& x, const Tensor& geometry, const Tensor& y);

inline const abi::LinearGeometry& linear_geometry(const void* constant) {
  return *static_cast<const abi::LinearGeometry*>(constant);
}
/// x and y are contiguous int8 rows of just the lengths that the geometry says, as many as it says;
/// zero points and bounds are codes.
Status check_linear_geometry(const Tensor& x, const Tensor& geometry, const Tensor& y);

/// Memory of the call's own: at least `bytes` long, at an address that `alignment` divides.
Status check_scratch(const Tensor& scratch, int64_t bytes, uint32_t alignment = 4);

/// Taps of one window, in bytes of x; fits 32 bits after check_window() only if the image is that
/// large.
inline int64_t window_bytes(const abi::WindowGeometry& g) {
  return int64_t{g.kernel_h * g.kernel_w} * g.in_c;
}

}  // namespace thimble::kernels
