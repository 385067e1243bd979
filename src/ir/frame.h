// SPDX-License-Identifier: Apache-2.0
#pragma once
// Formats of camera frames: attribute `format` of camera_image and qcamera_image.

#include <cstdint>

namespace thimble::ir {

/// The numbers are those of abi/params/frame.h.
enum class FrameFormat : uint8_t {
  kGray,
  kRgb888,
  kRgb565,
  kRgb565Be,
  kYuyv,
  kUyvy,
  kNv12,
  kCount
};

[[nodiscard]] constexpr bool is_yuv(FrameFormat format) {
  return format == FrameFormat::kYuyv || format == FrameFormat::kUyvy ||
         format == FrameFormat::kNv12;
}
/// Bytes of an element of the frame's last dimension.
[[nodiscard]] constexpr int64_t bytes_per_pixel(FrameFormat format) {
  if (format == FrameFormat::kGray || format == FrameFormat::kNv12) return 1;
  return format == FrameFormat::kRgb888 ? 3 : 2;
}

}  // namespace thimble::ir
