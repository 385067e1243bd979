// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of operators that read the frame of a camera.

#include <cstdint>

namespace thimble::abi {

/// Bytes of a frame. Values of a release are not used again for other formats.
enum class FrameFormat : int32_t {
  kGray = 0,      // one byte per pixel
  kRgb888 = 1,    // R, G, B
  kRgb565 = 2,    // 16 bits, little-endian: R in the highest 5 bits, B in the lowest
  kRgb565Be = 3,  // the same, big-endian
  kYuyv = 4,      // Y0, U, Y1, V for two pixels
  kUyvy = 5,      // U, Y0, V, Y1
  kNv12 = 6,      // a plane of Y, then rows of U, V for 2 x 2 pixels
  kCount
};

struct CameraImageParams {
  int32_t format;  // FrameFormat
  int32_t swap;    // 1: the result has the order B, G, R
};
static_assert(sizeof(CameraImageParams) == 8);

}  // namespace thimble::abi
