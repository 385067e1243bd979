// SPDX-License-Identifier: Apache-2.0
// Type rules of operators that read samples and frames of sensors (docs/numerics.md, "Frames of
// cameras").

#include <cmath>

#include "ir/frame.h"
#include "ir/infer_rules.h"

namespace thimble::ir {
namespace {

constexpr int64_t kOne = 2048;

/// Height and width of the image in the frame, operand 0.
struct FrameSize {
  int64_t height = 0, width = 0, channels = 0;
};

Result<FrameSize> frame_size(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kU8));
  THIMBLE_CHECK(c.expect_rank(0, 4));
  constexpr auto kLast = static_cast<int64_t>(FrameFormat::kCount) - 1;
  THIMBLE_CHECK(c.expect_range(attr::format, 0, kLast));
  const auto format = static_cast<FrameFormat>(c.get(attr::format));
  const Shape& x = c.shape(0);
  THIMBLE_CHECK(c.expect_shape(0, {1, x[1], x[2], bytes_per_pixel(format)}));
  if (format == FrameFormat::kNv12 && x[1] % 3 != 0) {
    return bad_input("{}, expected rows of luma and half as many rows of chroma", c.describe(0));
  }
  if (is_yuv(format) && x[2] % 2 != 0) {
    return bad_input("{}, expected an even width: two pixels share U and V", c.describe(0));
  }
  return FrameSize{format == FrameFormat::kNv12 ? x[1] / 3 * 2 : x[1], x[2],
                   format == FrameFormat::kGray ? 1 : 3};
}

/// Checks that the rows or columns of a table, and the next ones where they have a weight, exist.
Status check_source(const InferContext& c, size_t low, int64_t size) {
  for (const size_t i : {low, low + 1}) {
    THIMBLE_CHECK(c.expect_dtype(i, DType::kI32));
    THIMBLE_CHECK(c.expect_rank(i, 1));
    THIMBLE_CHECK(c.expect_constant(i));
  }
  THIMBLE_CHECK(c.expect_shape(low + 1, c.shape(low)));
  const auto positions = c.value(low).constant->data<int32_t>();
  const auto weights = c.value(low + 1).constant->data<int32_t>();
  for (size_t i = 0; i < positions.size(); ++i) {
    if (weights[i] < 0 || weights[i] > kOne) {
      return bad_input("{} holds {}, expected 0 to {}", c.value(low + 1).name, weights[i], kOne);
    }
    const int64_t last = size - 1 - (weights[i] > 0 ? 1 : 0);
    if (positions[i] < 0 || positions[i] > last) {
      return bad_input("{} holds {}, expected 0 to {}", c.value(low).name, positions[i], last);
    }
  }
  return ok();
}

}  // namespace

Result<Type> infer_unpack(const InferContext& c) {
  const DType dtype = c.type(0).dtype;
  if (dtype != DType::kU8 && dtype != DType::kI16) {
    return bad_input("{}, expected u8 or i16", c.describe(0));
  }
  THIMBLE_CHECK(c.expect_range(attr::zero_point, 0, dtype == DType::kU8 ? UINT8_MAX : 0));
  const double scale = c.op().get(attr::scale);
  if (!(scale > 0) || !std::isfinite(scale)) {
    return bad_input("scale is {}, expected a positive number", scale);
  }
  return Type{DType::kF32, c.shape(0), {}, {}};
}

Result<Type> infer_camera_image(const InferContext& c) {
  THIMBLE_TRY(const FrameSize frame, frame_size(c));
  THIMBLE_CHECK(c.expect_integers(attr::crop, 4, 0));
  THIMBLE_CHECK(c.expect_integers(attr::size, 2, 1));
  THIMBLE_CHECK(c.expect_range(attr::swap, 0, 1));
  THIMBLE_CHECK(c.expect_range(attr::zero_point, 0, UINT8_MAX));
  const auto& crop = c.op().get(attr::crop);
  const bool inside = crop[2] >= 1 && crop[3] >= 1 && crop[0] + crop[2] <= frame.height &&
                      crop[1] + crop[3] <= frame.width;
  if (!inside) {
    return bad_input(
        "crop is {}, expected top, left, height, width inside a frame of {} rows of {}",
        list_text(crop), frame.height, frame.width);
  }
  const double scale = c.op().get(attr::scale);
  if (!(scale > 0) || !std::isfinite(scale)) {
    return bad_input("scale is {}, expected a positive number", scale);
  }
  const auto& size = c.op().get(attr::size);
  return Type{DType::kF32, {1, size[0], size[1], frame.channels}, {}, {}};
}

Result<Type> infer_qcamera_image(const InferContext& c) {
  THIMBLE_TRY(const FrameSize frame, frame_size(c));
  THIMBLE_CHECK(c.expect_range(attr::swap, 0, 1));
  THIMBLE_CHECK(check_source(c, 1, frame.height));
  THIMBLE_CHECK(check_source(c, 3, frame.width));
  return int8_result({1, c.shape(1)[0], c.shape(3)[0], frame.channels});
}

}  // namespace thimble::ir
