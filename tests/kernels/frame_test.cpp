// SPDX-License-Identifier: Apache-2.0
// camera_image and flip_sign, compared with the reference evaluator: every format of frames, crops,
// sizes, and pixels of extreme values.

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/frame.h"
#include "tests/kernels/direct.h"

namespace thimble::kernels::test {
namespace {

using ir::FrameFormat;
using ir::OpKind;

/// Rows or columns and their weights; the next one exists where the weight is not 0.
void add_tables(Random& random, int32_t size, int32_t count,
                std::vector<std::optional<Operand>>* operands) {
  ir::Tensor low = ir::zeros(ir::DType::kI32, {count});
  ir::Tensor weight = ir::zeros(ir::DType::kI32, {count});
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const bool between = size > 1 && random() % 3 != 0;
    low.data<int32_t>()[i] = uniform(random, 0, size - (between ? 2 : 1));
    weight.data<int32_t>()[i] = !between ? 0 : random() % 4 == 0 ? 2048 : uniform(random, 1, 2048);
  }
  operands->push_back(Operand{std::move(low), true});
  operands->push_back(Operand{std::move(weight), true});
}

TEST(CameraImage, EveryFormat) {
  Random random(1);
  for (int format = 0; format < static_cast<int>(FrameFormat::kCount); ++format) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto kind = static_cast<FrameFormat>(format);
      const int32_t height = 2 * uniform(random, 1, 5), width = 2 * uniform(random, 1, 5);
      const int32_t rows = kind == FrameFormat::kNv12 ? height / 2 * 3 : height;
      ir::Tensor frame =
          random_tensor(random, ir::DType::kU8, {1, rows, width, ir::bytes_per_pixel(kind)});
      if (repeat % 4 == 0) {
        for (uint8_t& byte : frame.data<uint8_t>()) byte = random() % 2 == 0 ? 0 : 255;
      }
      std::vector<std::optional<Operand>> operands = {Operand{std::move(frame)}};
      add_tables(random, height, uniform(random, 1, 9), &operands);
      add_tables(random, width, uniform(random, 1, 9), &operands);
      ASSERT_NO_FATAL_FAILURE(expect_direct(
          OpKind::qcamera_image,
          {{ir::attr::format, int64_t{format}}, {ir::attr::swap, int64_t{uniform(random, 0, 1)}}},
          operands))
          << "format " << format << ", repeat " << repeat;
    }
  }
}

TEST(FlipSign, EveryByteAndLength) {
  Random random(2);
  for (int64_t count = 1; count <= 300; count += count < 12 ? 1 : 61) {
    for (const ir::DType dtype : {ir::DType::kU8, ir::DType::kI8}) {
      ir::Tensor x = ir::zeros(dtype, {count});
      for (size_t i = 0; i < static_cast<size_t>(count); ++i)
        x.bytes[i] = static_cast<std::byte>(i);
      ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::flip_sign, {}, {Operand{std::move(x)}}));
    }
  }
}

}  // namespace
}  // namespace thimble::kernels::test
