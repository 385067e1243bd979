// SPDX-License-Identifier: Apache-2.0
// thimble::camera_image: an int8 image from the frame of a camera, in one pass: unpacks the pixels
// around each output pixel, interpolates, and converts YUV to RGB; formula: docs/numerics.md,
// "Frames of cameras". No image of the frame's size is needed in memory.
//
// Operands: x uint8 [1, H, W, bytes], h_low, h_weight, w_low, w_weight (int32 constants, one entry
// per output row or column), parameters, y int8 [1, h, w, channels]. Memory: contiguous.

#include "abi/ops/frame.h"
#include "abi/params/frame.h"
#include "kernels/args/params.h"
#include "kernels/args/requant.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::CameraImageParams;
using abi::FrameFormat;

constexpr int32_t kOne = 2048;

int32_t bytes_per_pixel(FrameFormat format) {
  switch (format) {
    case FrameFormat::kGray:
    case FrameFormat::kNv12:
      return 1;
    case FrameFormat::kRgb888:
      return 3;
    default:
      return 2;
  }
}
bool is_yuv(FrameFormat format) {
  return format == FrameFormat::kYuyv || format == FrameFormat::kUyvy ||
         format == FrameFormat::kNv12;
}

/// The frame; the chroma rows of NV12 are after `height` rows.
struct Frame {
  const uint8_t* bytes;
  FrameFormat format;
  int32_t height, width;
};

/// Checks that row or column low, and the next one if it has a weight, is below `size`.
Status check_table(const Tensor& low, const Tensor& weight, int32_t count, int32_t size) {
  const Tensor* const both[] = {&low, &weight};
  for (const Tensor* table : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*table, DType::kI32));
    if (!table->is_constant) return Status::kBadParameter;
    if (elements(*table) != count) return Status::kBadShape;
  }
  for (int32_t i = 0; i < count; ++i) {
    const int32_t w = words(weight)[i];
    if (w < 0 || w > kOne) return Status::kBadParameter;
    if (words(low)[i] < 0 || words(low)[i] >= size - (w > 0 ? 1 : 0)) return Status::kBadParameter;
  }
  return Status::kOk;
}

Frame frame_of(const Tensor& x, FrameFormat format) {
  const int32_t rows = x.sizes[1];
  return {static_cast<const uint8_t*>(x.data), format,
          format == FrameFormat::kNv12 ? rows / 3 * 2 : rows, x.sizes[2]};
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 6);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kU8));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_camera_image>(tensor(call, 5)));
  const CameraImageParams& p = params<abi::op_info::thimble_camera_image>(tensor(call, 5));
  if (p.format < 0 || p.format >= static_cast<int32_t>(FrameFormat::kCount)) {
    return Status::kBadParameter;
  }
  if (p.swap < 0 || p.swap > 1) return Status::kBadParameter;
  const FrameFormat format = static_cast<FrameFormat>(p.format);
  if (x.rank != 4 || y.rank != 4) return Status::kBadShape;
  if (!is_contiguous(x) || !is_contiguous(y)) return Status::kBadDimOrder;
  if (x.sizes[0] != 1 || y.sizes[0] != 1) return Status::kBadShape;
  if (x.sizes[3] != bytes_per_pixel(format)) return Status::kBadShape;
  if (y.sizes[3] != (format == FrameFormat::kGray ? 1 : 3)) return Status::kBadShape;
  if (is_yuv(format) && x.sizes[2] % 2 != 0) return Status::kBadShape;
  if (format == FrameFormat::kNv12 && x.sizes[1] % 3 != 0) return Status::kBadShape;
  const Frame frame = frame_of(x, format);
  THIMBLE_RETURN_IF_ERROR(check_table(tensor(call, 1), tensor(call, 2), y.sizes[1], frame.height));
  return check_table(tensor(call, 3), tensor(call, 4), y.sizes[2], frame.width);
}

/// The components of a pixel: R, G, B or Y, U, V, or one of them.
void read_pixel(const Frame& frame, int32_t row, int32_t column, int32_t* to) {
  const uint8_t* const x = frame.bytes;
  const int32_t at = row * frame.width + column;
  const int32_t even = at - (column & 1);
  switch (frame.format) {
    case FrameFormat::kGray:
      to[0] = x[at];
      return;
    case FrameFormat::kRgb888:
      to[0] = x[3 * at];
      to[1] = x[3 * at + 1];
      to[2] = x[3 * at + 2];
      return;
    case FrameFormat::kYuyv:
      to[0] = x[2 * at];
      to[1] = x[2 * even + 1];
      to[2] = x[2 * even + 3];
      return;
    case FrameFormat::kUyvy:
      to[0] = x[2 * at + 1];
      to[1] = x[2 * even];
      to[2] = x[2 * even + 2];
      return;
    case FrameFormat::kNv12: {
      const uint8_t* const chroma =
          x + (frame.height + row / 2) * frame.width + (column - (column & 1));
      to[0] = x[at];
      to[1] = chroma[0];
      to[2] = chroma[1];
      return;
    }
    default: {
      const bool big = frame.format == FrameFormat::kRgb565Be;
      const int32_t word = x[2 * at + (big ? 1 : 0)] | x[2 * at + (big ? 0 : 1)] << 8;
      const int32_t r = word >> 11, g = word >> 5 & 63, b = word & 31;
      to[0] = r << 3 | r >> 2;
      to[1] = g << 2 | g >> 4;
      to[2] = b << 3 | b >> 2;
      return;
    }
  }
}

int32_t to_byte(int32_t value) {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

void yuv_to_rgb(int32_t* v) {
  const int32_t c = 298 * (v[0] - 16) + 128, d = v[1] - 128, e = v[2] - 128;
  v[0] = to_byte((c + 409 * e) >> 8);
  v[1] = to_byte((c - 100 * d - 208 * e) >> 8);
  v[2] = to_byte((c + 516 * d) >> 8);
}

/// The pixel at a fraction of a row and of a column after `row` and `column`.
void interpolate(const Frame& frame, int32_t row, int32_t below, int32_t column, int32_t right,
                 int32_t channels, int32_t* v) {
  const int32_t next_row = row + (below > 0 ? 1 : 0);
  const int32_t next_column = column + (right > 0 ? 1 : 0);
  int32_t corner[4][3];
  read_pixel(frame, row, column, corner[0]);
  read_pixel(frame, row, next_column, corner[1]);
  read_pixel(frame, next_row, column, corner[2]);
  read_pixel(frame, next_row, next_column, corner[3]);
  const int32_t above = kOne - below, left = kOne - right;
  for (int32_t k = 0; k < channels; ++k) {
    const int32_t sum = corner[0][k] * (above * left) + corner[1][k] * (above * right) +
                        corner[2][k] * (below * left) + corner[3][k] * (below * right);
    v[k] = (sum + (1 << 21)) >> 22;
  }
}

void run(const Call& call) {
  const Tensor& y = tensor(call, 6);
  const CameraImageParams& p = params<abi::op_info::thimble_camera_image>(tensor(call, 5));
  const Frame frame = frame_of(tensor(call, 0), static_cast<FrameFormat>(p.format));
  const bool yuv = is_yuv(frame.format);
  const int32_t channels = y.sizes[3];
  const int32_t* const rows = words(tensor(call, 1));
  const int32_t* const row_weights = words(tensor(call, 2));
  const int32_t* const columns = words(tensor(call, 3));
  const int32_t* const column_weights = words(tensor(call, 4));
  int8_t* to = static_cast<int8_t*>(y.data);
  for (int32_t oy = 0; oy < y.sizes[1]; ++oy) {
    for (int32_t ox = 0; ox < y.sizes[2]; ++ox) {
      int32_t v[3];
      const int32_t below = row_weights[oy], right = column_weights[ox];
      if ((below | right) == 0) {
        read_pixel(frame, rows[oy], columns[ox], v);
      } else {
        interpolate(frame, rows[oy], below, columns[ox], right, channels, v);
      }
      if (yuv) yuv_to_rgb(v);
      for (int32_t k = 0; k < channels; ++k) {
        const int32_t from = p.swap != 0 ? channels - 1 - k : k;
        to[k] = static_cast<int8_t>(v[from] - 128);
      }
      to += channels;
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_camera_image, check, run);

}  // namespace thimble::kernels
