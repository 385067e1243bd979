// SPDX-License-Identifier: Apache-2.0
// Operators with 16-bit activations, compared with the reference evaluator at the ends of their
// ranges; and the calls that their kernels refuse.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/kernels/direct.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;
using ir::OpKind;

const Order kTransposedWeights = {1, 2, 3, 0};

ir::Tensor filled(const ir::Shape& shape, int16_t code) {
  ir::Tensor tensor = ir::zeros(ir::DType::kI16, shape);
  std::ranges::fill(tensor.data<int16_t>(), code);
  return tensor;
}

std::vector<int64_t> list(Random& random, size_t count, int32_t low, int32_t high) {
  std::vector<int64_t> values(count);
  for (int64_t& value : values) value = uniform(random, low, high);
  return values;
}

void set_bounds(Random& random, ir::Attrs& attrs) {
  attrs.set(ir::attr::min, int64_t{random() % 2 == 0 ? -32768 : uniform(random, -32768, 0)});
  attrs.set(ir::attr::max, int64_t{random() % 2 == 0 ? 32767 : uniform(random, 0, 32767)});
}

TEST(Wide, ConvTransposeOfEverySmallAxis) {
  Random random(1);
  int tried = 0;
  for (int32_t in = 1; in <= 4; ++in) {
    for (int32_t kernel = 1; kernel <= 4; ++kernel) {
      for (int32_t stride = 1; stride <= 3; ++stride) {
        for (int32_t dilation = 1; dilation <= 3; ++dilation) {
          const int64_t groups = uniform(random, 1, 3);
          const int64_t in_c = groups * uniform(random, 1, 3);
          const int64_t out = uniform(random, 1, 4);
          const int64_t cut = uniform(random, 0, 1);
          const int64_t width = uniform(random, 1, 4);
          const int64_t extent = int64_t{in - 1} * stride + (kernel - 1) * dilation + 1 - cut;
          if (extent < 1) continue;
          const std::vector<int64_t> steps = {stride, uniform(random, 1, 3)};
          const int64_t extra = std::max(stride, dilation) > 1 ? uniform(random, 0, 1) : 0;
          ir::Attrs attrs{
              {ir::attr::stride, steps},
              {ir::attr::padding, std::vector<int64_t>{cut, 0, 0, 0}},
              {ir::attr::output_padding, std::vector<int64_t>{extra, 0}},
              {ir::attr::dilation, std::vector<int64_t>{dilation, uniform(random, 1, 2)}},
              {ir::attr::groups, groups}};
          set_bounds(random, attrs);
          ir::Tensor bias = ir::zeros(ir::DType::kI64, {groups * out});
          for (int64_t& b : bias.data<int64_t>()) {
            b = static_cast<int64_t>(uniform(random, -1000, 1000)) << 30;
          }
          const int64_t scales = random() % 2 == 0 ? 1 : groups * out;
          const ir::Shape x = {2, in_c, in, width};
          const ir::Shape w = {in_c, out, kernel, uniform(random, 1, 3)};
          ASSERT_NO_FATAL_FAILURE(expect_direct(
              OpKind::qconv_transpose2d16, attrs,
              {Operand{random_tensor(random, ir::DType::kI16, x), false, kNhwc},
               Operand{random_tensor(random, ir::DType::kI8, w), true, kTransposedWeights},
               random() % 3 == 0 ? std::nullopt : std::optional(Operand{std::move(bias), true}),
               Operand{random_i32(random, {scales}, 1 << 30, INT32_MAX), true},
               Operand{random_i32(random, {scales}, -20, -4), true}},
              kNhwc));
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(Wide, ConvTransposeRefusesInvalidArguments) {
  Random random(2);
  const auto status = [&](auto change) {
    Invocation call = sample(PteOp::thimble_conv_transpose2d16, random);
    while (call.value(2).null) call = sample(PteOp::thimble_conv_transpose2d16, random);
    change(call);
    return call.check();
  };
  const auto word = [&](size_t index, int32_t value) {
    return status([&](Invocation& call) { call.value(5).as<int32_t>()[index] = value; });
  };
  EXPECT_EQ(status([](Invocation&) {}), Status::kOk);
  // Words: strides 0..2, padding 3..7, output padding 8..10, dilation 11..13, groups.
  for (const size_t count : {0, 3, 8, 11}) EXPECT_EQ(word(count, 1), Status::kBadParameter);
  for (const size_t step : {1, 2, 12, 13}) EXPECT_EQ(word(step, 0), Status::kBadParameter);
  for (const size_t side : {4, 5, 6, 7, 9, 10}) {
    EXPECT_EQ(word(side, -1), Status::kBadParameter);
    EXPECT_EQ(word(side, 17), Status::kBadShape);
  }
  EXPECT_EQ(word(14, 0), Status::kBadParameter);
  EXPECT_EQ(word(14, 100), Status::kBadShape);
  EXPECT_EQ(word(15, -32769), Status::kBadParameter);
  EXPECT_EQ(word(16, -32769), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& call) { call.value(2).as<int64_t>()[0] = int64_t{1} << 47; }),
            Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& call) { call.value(4).as<int32_t>()[0] = 15; }),
            Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& call) { call.value(3).constant = false; }),
            Status::kBadParameter);
}

ir::Attrs product_attrs(int64_t transpose_b, int64_t shift) {
  return {{ir::attr::transpose_b, transpose_b},
          {ir::attr::mult, int64_t{INT32_MAX}},
          {ir::attr::shift, shift}};
}

void expect_product(Random& random, const ir::Shape& a, ir::Shape b, int64_t transpose_b) {
  if (transpose_b != 0) std::swap(b[b.size() - 1], b[b.size() - 2]);
  ir::Attrs attrs = product_attrs(transpose_b, uniform(random, -18, -12));
  set_bounds(random, attrs);
  expect_direct(OpKind::qmatmul16, attrs,
                {Operand{random_tensor(random, ir::DType::kI16, a)},
                 Operand{random_tensor(random, ir::DType::kI16, b)}});
}

TEST(Wide, MatmulOfEverySmallShape) {
  Random random(3);
  for (int64_t m = 1; m <= 3; ++m) {
    for (int64_t k = 1; k <= 5; ++k) {
      for (int64_t n = 1; n <= 5; ++n) {
        for (const int64_t transpose_b : {0, 1}) {
          ASSERT_NO_FATAL_FAILURE(expect_product(random, {m, k}, {k, n}, transpose_b));
          ASSERT_NO_FATAL_FAILURE(expect_product(random, {2, 1, m, k}, {3, k, n}, transpose_b));
        }
      }
    }
  }
}

/// 2^16 products of 2^30 give the largest sum.
TEST(Wide, MatmulOfLongestSums) {
  constexpr int64_t kDepth = 65536;
  const Operand low = {filled({1, kDepth}, -32768)};
  const Operand high = {filled({1, kDepth}, 32767)};
  for (const int64_t shift : {-31, -15, 14}) {
    const ir::Attrs attrs = product_attrs(1, shift);
    ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qmatmul16, attrs, {low, low}));
    ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qmatmul16, attrs, {low, high}));
  }
}

TEST(Wide, MatmulRefusesInvalidArguments) {
  Random random(4);
  const auto status = [&](const std::vector<int32_t>& words, const Sizes& a, const Sizes& b,
                          const Sizes& y) {
    Invocation call(PteOp::thimble_matmul16);
    for (const Sizes& sizes : {a, b}) call.add(make(kernels::DType::kI16, sizes));
    call.add(constant_words(words)).add(make(kernels::DType::kI16, y));
    return call.check();
  };
  const auto with = [&](size_t i, int32_t value) {
    std::vector<int32_t> words = {0, 1 << 30, -8, -32768, 32767};
    words[i] = value;
    return status(words, {2, 3, 4}, {4, 5}, {2, 3, 5});
  };
  EXPECT_EQ(with(0, 0), Status::kOk);
  EXPECT_EQ(with(0, 1), Status::kBadShape);
  EXPECT_EQ(with(0, 2), Status::kBadParameter);
  EXPECT_EQ(with(1, -1), Status::kBadParameter);
  EXPECT_EQ(with(2, 15), Status::kBadParameter);
  EXPECT_EQ(with(2, -32), Status::kBadParameter);
  EXPECT_EQ(with(3, -32769), Status::kBadParameter);
  EXPECT_EQ(with(4, -32769), Status::kBadParameter);
  const std::vector<int32_t> good = {0, 1 << 30, -8, -32768, 32767};
  EXPECT_EQ(status(good, {1, 65536}, {65536, 1}, {1, 1}), Status::kOk);
  EXPECT_EQ(status(good, {1, 65537}, {65537, 1}, {1, 1}), Status::kBadShape);
}

TEST(Wide, PreluOfExtremes) {
  ir::Tensor x = ir::zeros(ir::DType::kI16, {6});
  const int16_t values[] = {-32768, -32767, -1, 0, 1, 32767};
  std::ranges::copy(values, x.data<int16_t>().begin());
  for (const int16_t w : values) {
    for (const int64_t shift : {-31, -15, 0}) {
      const ir::Attrs attrs{{ir::attr::mult, int64_t{INT32_MAX}},
                            {ir::attr::shift, std::max<int64_t>(shift, -2)},
                            {ir::attr::w_mult, int64_t{INT32_MAX}},
                            {ir::attr::w_shift, shift}};
      ASSERT_NO_FATAL_FAILURE(
          expect_direct(OpKind::qprelu16, attrs, {Operand{x}, Operand{filled({1}, w)}}));
    }
  }
}

TEST(Wide, PoolsOfEverySmallWindow) {
  Random random(5);
  for (Sizes i; next({2, 3, 3, 2, 2, 5, 5}, i);) {
    const bool average = i[0] == 0;
    const std::vector<int64_t> kernel = {i[1] + 1, i[2] + 1};
    const std::vector<int64_t> dilation = {average ? 1 : i[3] + 1, average ? 1 : i[4] + 1};
    const ir::Shape x = {2, uniform(random, 1, 3), i[5] + 3, i[6] + 3};
    const int64_t pad = kernel[0] > 1 && dilation[0] == 1 ? uniform(random, 0, 1) : 0;
    if ((kernel[0] - 1) * dilation[0] >= x[2] || (kernel[1] - 1) * dilation[1] >= x[3]) continue;
    ir::Attrs attrs{{ir::attr::kernel, kernel},
                    {ir::attr::stride, list(random, 2, 1, 3)},
                    {ir::attr::padding, std::vector<int64_t>{pad, 0, pad, 0}}};
    if (average) set_bounds(random, attrs);
    if (!average) attrs.set(ir::attr::dilation, dilation);
    ASSERT_NO_FATAL_FAILURE(
        expect_direct(average ? OpKind::qavg_pool2d16 : OpKind::max_pool2d16, attrs,
                      {Operand{random_tensor(random, ir::DType::kI16, x), false, kNhwc}}, kNhwc));
  }
}

/// The largest window whose sum fits, over equal values of either sign.
TEST(Wide, PoolsOfTheLargestWindow) {
  for (const int16_t code : {int16_t{-32768}, int16_t{32767}}) {
    const Operand x = {filled({1, 1, 255, 257}, code), false, kNhwc};
    const ir::Attrs bounds{{ir::attr::min, int64_t{-32768}}, {ir::attr::max, int64_t{32767}}};
    ir::Attrs adaptive = bounds, window = bounds;
    adaptive.set(ir::attr::size, std::vector<int64_t>{1, 1});
    ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qadaptive_avg_pool2d, adaptive, {x}, kNhwc));
    window.set(ir::attr::kernel, std::vector<int64_t>{255, 257});
    window.set(ir::attr::stride, std::vector<int64_t>{1, 1});
    window.set(ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0});
    ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qavg_pool2d16, window, {x}, kNhwc));
  }
}

TEST(Wide, AdaptivePoolsOfEverySmallSize) {
  Random random(6);
  for (Sizes i; next({2, 7, 4, 9, 3}, i);) {
    const bool average = i[0] == 0;
    ir::Attrs attrs{{ir::attr::size, std::vector<int64_t>{i[3] + 1, i[4] * 4 + 1}}};
    if (average) set_bounds(random, attrs);
    const ir::Shape x = {2, uniform(random, 1, 3), i[1] + 1, i[2] * 3 + 1};
    ASSERT_NO_FATAL_FAILURE(
        expect_direct(average ? OpKind::qadaptive_avg_pool2d : OpKind::adaptive_max_pool2d, attrs,
                      {Operand{random_tensor(random, ir::DType::kI16, x), false, kNhwc}}, kNhwc));
  }
}

TEST(Wide, ResizeByAnyTables) {
  Random random(7);
  for (Sizes i; next({4, 4, 5, 5}, i);) {
    const ir::Shape x = {2, uniform(random, 1, 3), i[0] + 1, i[1] + 1};
    for (const bool extreme : {true, false}) {
      std::vector<std::optional<Operand>> operands = {
          Operand{extreme ? filled(x, random() % 2 == 0 ? -32768 : 32767)
                          : random_tensor(random, ir::DType::kI16, x),
                  false, kNhwc}};
      for (size_t side = 0; side < 2; ++side) {
        const ir::Shape count = {i[2 + side] + 1};
        operands.push_back(Operand{random_i32(random, count, 0, i[side]), true});
        operands.push_back(Operand{random_i32(random, count, 0, 2048), true});
      }
      ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qresize_bilinear, {}, operands, kNhwc));
    }
  }
}

/// Kernels that support int8 and int16 images refuse other element types.
TEST(Wide, Int8AndInt16KernelsRefuseOtherTypes) {
  Random random(8);
  for (const PteOp op : {PteOp::thimble_adaptive_avg_pool2d, PteOp::thimble_adaptive_max_pool2d,
                         PteOp::thimble_resize_bilinear}) {
    Invocation call = sample(op, random);
    for (Value* image : {&call.value(0), &call.out()}) {
      *image = make(kernels::DType::kI32, image->sizes, kNhwc);
    }
    EXPECT_EQ(call.check(), Status::kBadDType);
  }
  Invocation call = sample(PteOp::thimble_adaptive_avg_pool2d, random);
  while (call.out().dtype != kernels::DType::kI8) {
    call = sample(PteOp::thimble_adaptive_avg_pool2d, random);
  }
  call.value(1).as<int32_t>()[4] = 128;
  EXPECT_EQ(call.check(), Status::kBadParameter);
}

}  // namespace
}  // namespace thimble::kernels::test
