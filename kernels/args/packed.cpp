// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/packed.h"

namespace thimble::kernels {
namespace {

/// Maximum size of a row or column: its product with a dilation of up to 255 fits 31 bits.
constexpr uint32_t kMaxDilatedBytes = 1U << 23;

bool is_image_of(const Tensor& t, uint32_t height, uint32_t width, uint32_t channels) {
  const auto size = [&t](uint32_t d) { return static_cast<uint32_t>(t.sizes[d]); };
  return size(0) == 1 && size(1) == channels && size(2) == height && size(3) == width;
}

struct Axis {
  int32_t in, out, kernel, stride, dilation, pad;
};

/// Returns true if padding before and after is smaller than the window, and the output has every
/// window that fits.
bool axis_fits(const Axis& axis) {
  if (axis.kernel == 0 || axis.stride == 0 || axis.dilation == 0) return false;
  const int32_t reach = (axis.kernel - 1) * axis.dilation;  // distance from first to last tap
  const int32_t after = (axis.out - 1) * axis.stride + reach + 1 - axis.pad - axis.in;
  return axis.pad <= reach && after <= reach && after > -axis.stride;
}

}  // namespace

Status check_window(const Tensor& x, const Tensor& geometry, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_image(x, StockSignature::kCurrent));
  THIMBLE_RETURN_IF_ERROR(check_image(y, StockSignature::kCurrent));
  THIMBLE_RETURN_IF_ERROR(check_packed(geometry, sizeof(abi::WindowGeometry)));
  const abi::WindowGeometry& g = window_geometry(geometry);
  if (!is_image_of(x, g.in_h, g.in_w, g.in_c)) return Status::kBadShape;
  if (!is_image_of(y, g.out_h, g.out_w, g.out_c)) return Status::kBadShape;
  if (!axis_fits({g.in_h, g.out_h, g.kernel_h, g.stride_h, g.dilation_h, g.pad_top})) {
    return Status::kBadParameter;
  }
  if (!axis_fits({g.in_w, g.out_w, g.kernel_w, g.stride_w, g.dilation_w, g.pad_left})) {
    return Status::kBadParameter;
  }
  if ((g.dilation_h | g.dilation_w) != 1 && x.bytes > kMaxDilatedBytes) return Status::kBadShape;
  const bool codes = is_code(g.x_zero_point) && is_code(g.y_zero_point);
  return codes && are_bounds(g.min, g.max) ? Status::kOk : Status::kBadParameter;
}

Status check_depthwise_window(const Tensor& x, const Tensor& geometry, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_window(x, geometry, y));
  const abi::WindowGeometry& g = window_geometry(geometry);
  return g.out_c % g.in_c == 0 ? Status::kOk : Status::kBadShape;
}

Status check_linear_geometry(const Tensor& x, const Tensor& geometry, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI8));
  if (!is_contiguous(x) || !is_contiguous(y)) return Status::kBadDimOrder;
  THIMBLE_RETURN_IF_ERROR(check_packed(geometry, sizeof(abi::LinearGeometry)));
  const abi::LinearGeometry& g = linear_geometry(geometry.data);
  if (uint64_t{g.rows} * g.in_features != x.bytes) return Status::kBadShape;
  if (uint64_t{g.rows} * g.out_features != y.bytes) return Status::kBadShape;
  const bool codes = is_code(g.x_zero_point) && is_code(g.y_zero_point);
  return codes && are_bounds(g.min, g.max) ? Status::kOk : Status::kBadParameter;
}

Status check_scratch(const Tensor& scratch, int64_t bytes, uint32_t alignment) {
  if (scratch.is_null || scratch.is_constant) return Status::kBadParameter;
  if ((reinterpret_cast<uintptr_t>(scratch.data) & (alignment - 1)) != 0) {
    return Status::kMisaligned;
  }
  return scratch.bytes >= bytes ? Status::kOk : Status::kScratchTooSmall;
}

}  // namespace thimble::kernels
