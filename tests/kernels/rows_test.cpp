// SPDX-License-Identifier: Apache-2.0
// The operators of abi/packed_ops.h, compared with docs/numerics.md: every pair of quantized
// values, every small shape, and larger shapes by seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "abi/params/arithmetic.h"
#include "abi/params/window.h"
#include "numerics/fixed_point.h"
#include "numerics/softmax16.h"
#include "tests/kernels/reference.h"
#include "tests/kernels/rows_case.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

TEST(SoftmaxRows, EqualsItsDefinition) {
  Random random(1);
  for (const double scale : {2e-8, 0.004, 0.07, 0.5, 3.0, 100.0}) {
    for (const uint32_t length : {1U, 2U, 3U, 10U, 257U, 600U, 4096U, 9000U}) {
      for (const int spread : {0, 3, 255}) {
        const abi::SoftmaxRows p = softmax_constant(scale, 3, length);
        const Sizes sizes = {3, static_cast<int32_t>(length)};
        Invocation call(PteOp::thimble_softmax_rows);
        Value x = make(DType::kI8, sizes);
        for (int32_t i = 0; i < x.count(); ++i) {
          x.as<int8_t>()[i] = static_cast<int8_t>(uniform(random, -128, spread - 128));
        }
        const abi::SoftmaxRows wide = softmax_constant(scale, 3, length, true);
        Invocation wide_call(PteOp::thimble_softmax_rows);
        wide_call.add(make(DType::kI8, sizes)).add(packed_value(wide));
        wide_call.add(make(DType::kI16, sizes));
        std::memcpy(wide_call.value(0).data.get(), x.data.get(), x.bytes);
        call.add(std::move(x)).add(packed_value(p)).add(make(DType::kI8, sizes));
        ASSERT_NO_FATAL_FAILURE(call.run());
        ASSERT_NO_FATAL_FAILURE(wide_call.run());
        const numerics::Softmax rows = {p.mult, p.shift, p.diff_min};
        std::vector<int8_t> y(length);
        for (int32_t row = 0; row < 3; ++row) {
          const size_t at = static_cast<size_t>(row) * length;
          rows.row(call.value(0).as<int8_t>() + at, sizes[1], y.data());
          ASSERT_EQ(std::memcmp(call.out().as<int8_t>() + at, y.data(), length), 0)
              << "scale " << scale << " length " << length;
          std::vector<int16_t> y_wide(length);
          numerics::softmax16_row(rows, call.value(0).as<int8_t>() + at, sizes[1], y_wide.data());
          ASSERT_EQ(std::memcmp(wide_call.out().as<int16_t>() + at, y_wide.data(), 2 * length), 0)
              << "scale " << scale << " length " << length;
        }
      }
    }
  }
}

/// Every pair of quantized values, as a broadcast of a column and a row.
struct Pairs {
  Value a = make(DType::kI8, {256, 1}), b = make(DType::kI8, {1, 256});
  abi::LoopNest nest = nest_of({{256, 1, 0}, {256, 0, 1}});
  Pairs() {
    for (int i = 0; i < 256; ++i) a.as<int8_t>()[i] = b.as<int8_t>()[i] = static_cast<int8_t>(i);
  }
};

TEST(AddTable, AllPairsOfInt8Values) {
  const abi::AddParams cases[] = {
      {128, 1073741824, 0, -127, 1518500250, -1, -5, 1600000000, -18, -128, 127, 0},
      {-3, 1999999999, -1, 17, 1073741824, 0, 127, 1073741824, -19, -128, 100, 1},
      {0, 1073741824, -3, 0, 2000000000, -1, -128, 2147483647, -19, -128, 127, 0},
      {7, 1073741825, 0, 9, 1073741824, -9, 3, 1234567890, -22, 3, 127, 1},
      {1, 1073741824, -14, 2, 1073741824, -14, 0, 1073741824, -1, -128, 127, 0},
  };
  for (const abi::AddParams& p : cases) {
    Pairs pairs;
    Invocation call(PteOp::thimble_add_table);
    call.add(std::move(pairs.a)).add(std::move(pairs.b));
    call.add(packed_value(add_constant(p, pairs.nest))).add(make(DType::kI8, {256, 256}));
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (int32_t a = -128; a <= 127; ++a) {
      for (int32_t b = -128; b <= 127; ++b) {
        const int64_t b_value = p.b_negate != 0 ? -(b + p.b_offset) : b + p.b_offset;
        const int64_t sum = requantized(int64_t{a + p.a_offset} * (1 << 20), p.a_mult, p.a_shift) +
                            requantized(b_value * (1 << 20), p.b_mult, p.b_shift);
        const int64_t y = requantized(sum, p.y_mult, p.y_shift) + p.y_offset;
        ASSERT_EQ(call.out().as<int8_t>()[(a & 255) * 256 + (b & 255)], clamped(y, p.min, p.max))
            << a << " and " << b;
      }
    }
  }
}

TEST(MulNest, AllPairsOfInt8Values) {
  const abi::MulParams cases[] = {{128, -127, 5, 1073741824, -6, -128, 127},
                                  {0, 0, 0, 2147483647, -9, -100, 90},
                                  {-127, 3, -128, 1600000000, -5, 0, 127},
                                  {3000, 0, 1, 1073741824, 2, -128, 127}};
  for (const abi::MulParams& p : cases) {
    Pairs pairs;
    Invocation call(PteOp::thimble_mul_nest);
    call.add(std::move(pairs.a)).add(std::move(pairs.b));
    call.add(packed_value(abi::MulNest{pairs.nest, p})).add(make(DType::kI8, {256, 256}));
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (int32_t a = -128; a <= 127; ++a) {
      for (int32_t b = -128; b <= 127; ++b) {
        const int64_t product = int64_t{a + p.a_offset} * (b + p.b_offset);
        const int64_t y = requantized(product, p.mult, p.shift) + p.y_offset;
        ASSERT_EQ(call.out().as<int8_t>()[(a & 255) * 256 + (b & 255)], clamped(y, p.min, p.max))
            << a << " times " << b;
      }
    }
  }
}

TEST(BinaryNest, FiveAxesWithAnyStrides) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    std::vector<TestAxis> axes;
    uint32_t reach[2] = {1, 1};
    int32_t count = 1;
    for (uint32_t a = 0; a < abi::LoopNest::kAxes; ++a) {
      const TestAxis axis = {static_cast<uint32_t>(uniform(random, 1, 3)),
                             static_cast<uint32_t>(uniform(random, 0, 4)),
                             static_cast<uint32_t>(uniform(random, 0, 4))};
      reach[0] += (axis.extent - 1) * axis.first;
      reach[1] += (axis.extent - 1) * axis.second;
      count *= static_cast<int32_t>(axis.extent);
      axes.push_back(axis);
    }
    Invocation call(PteOp::thimble_mul_nest);
    call.add(random_codes(random, {static_cast<int32_t>(reach[0])}));
    call.add(random_codes(random, {static_cast<int32_t>(reach[1])}));
    call.add(packed_value(abi::MulNest{nest_of(axes), {1, 2, 3, 1 << 30, -7, -128, 127}}));
    call.add(make(DType::kI8, {count}));
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (int32_t k = 0; k < count; ++k) {
      uint32_t rest = static_cast<uint32_t>(k), a = 0, b = 0;
      for (size_t axis = axes.size(); axis-- > 0;) {
        a += rest % axes[axis].extent * axes[axis].first;
        b += rest % axes[axis].extent * axes[axis].second;
        rest /= axes[axis].extent;
      }
      const int64_t product =
          int64_t{call.value(0).as<int8_t>()[a] + 1} * (call.value(1).as<int8_t>()[b] + 2);
      ASSERT_EQ(call.out().as<int8_t>()[k],
                clamped(requantized(product, 1 << 30, -7) + 3, -128, 127));
    }
    // An operand that is one element too short is refused.
    for (const size_t operand : {0U, 1U}) {
      Value& v = call.value(operand);
      if (v.sizes[0] == 1) continue;
      v = random_codes(random, {v.sizes[0] - 1});
      EXPECT_EQ(call.check(), Status::kBadShape);
      v = random_codes(random, {v.sizes[0] + 1});
    }
  }
}

/// Images of 1..6 rows and columns, kernels and strides up to 3, padding smaller than the kernel.
TEST(WindowPool, EverySmallShape) {
  Random random(3);
  for (int code = 0; code < 6 * 6 * 3 * 3 * 3 * 3 * 3; ++code) {
    int rest = code;
    const auto digit = [&rest](int base) {
      const int value = rest % base;
      rest /= base;
      return value;
    };
    abi::WindowGeometry g = {};
    g.in_h = static_cast<uint16_t>(1 + digit(6));
    g.in_w = static_cast<uint16_t>(1 + digit(6));
    g.kernel_h = static_cast<uint8_t>(1 + digit(3));
    g.kernel_w = static_cast<uint8_t>(1 + digit(3));
    g.stride_h = static_cast<uint8_t>(1 + digit(3));
    g.stride_w = static_cast<uint8_t>(1 + digit(3));
    g.pad_top = g.pad_left = static_cast<uint8_t>(digit(3));
    g.dilation_h = g.dilation_w = 1;
    const int32_t h = g.in_h + 2 * g.pad_top - g.kernel_h;
    const int32_t w = g.in_w + 2 * g.pad_left - g.kernel_w;
    if (h < 0 || w < 0 || g.pad_top >= std::min(g.kernel_h, g.kernel_w)) continue;
    g.out_h = static_cast<uint16_t>(h / g.stride_h + 1);
    g.out_w = static_cast<uint16_t>(w / g.stride_w + 1);
    g.in_c = g.out_c = static_cast<uint16_t>(code % 2 == 0 ? 4 : 3);
    g.min = -100;
    g.max = 99;
    const Sizes x = {1, g.in_c, g.in_h, g.in_w}, y = {1, g.in_c, g.out_h, g.out_w};
    for (const PteOp op : {PteOp::thimble_avg_pool2d_packed, PteOp::thimble_max_pool2d_packed}) {
      Invocation call(op);
      call.add(random_codes(random, x, kNhwc)).add(packed_value(g));
      call.add(make(DType::kI8, y, kNhwc));
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (Sizes at; next(y, at);) {
        int64_t sum = 0, count = 0, best = -128;
        for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
          for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
            const int32_t iy = at[2] * g.stride_h - g.pad_top + ky;
            const int32_t ix = at[3] * g.stride_w - g.pad_left + kx;
            if (iy < 0 || iy >= g.in_h || ix < 0 || ix >= g.in_w) continue;
            const int64_t value = call.value(0).i8({0, at[1], iy, ix});
            sum += value;
            best = std::max(best, value);
            ++count;
          }
        }
        const int64_t mean = (sum + (sum >= 0 ? count / 2 : -(count / 2))) / count;
        ASSERT_EQ(call.out().i8(at),
                  op == PteOp::thimble_max_pool2d_packed ? best : clamped(mean, -100, 99));
      }
    }
  }
}

TEST(WindowPool, MeansOfWholeImagesOfAnySize) {
  Random random(4);
  for (const int32_t side : {1, 7, 16, 18, 19, 23, 40}) {
    for (const int fill : {-128, 127, 0}) {
      abi::WindowGeometry g = {};
      g.in_h = g.in_w = static_cast<uint16_t>(side);
      g.kernel_h = g.kernel_w = static_cast<uint8_t>(side);
      g.out_h = g.out_w = g.stride_h = g.stride_w = g.dilation_h = g.dilation_w = 1;
      g.in_c = g.out_c = side % 2 == 0 ? 5 : 8;
      g.min = -128;
      g.max = 127;
      Value x = random_codes(random, {1, g.in_c, side, side}, kNhwc);
      if (fill != 0) std::memset(x.data.get(), fill, x.bytes);
      Invocation call(PteOp::thimble_avg_pool2d_packed);
      call.add(std::move(x)).add(packed_value(g));
      call.add(make(DType::kI8, {1, g.in_c, 1, 1}, kNhwc));
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (int32_t c = 0; c < g.in_c; ++c) {
        int64_t sum = 0;
        for (int32_t p = 0; p < side * side; ++p) {
          sum += call.value(0).as<int8_t>()[p * g.in_c + c];
        }
        const int64_t half = side * side / 2;
        EXPECT_EQ(call.out().as<int8_t>()[c], (sum + (sum >= 0 ? half : -half)) / (side * side));
      }
    }
  }
}

TEST(MeanRun, SmallShapesAndLongRuns) {
  Random random(5);
  for (const int32_t outer : {1, 3}) {
    for (const int32_t count : {1, 2, 5, 256, 257, 1000}) {
      for (const int32_t inner : {1, 3, 4, 8}) {
        const abi::MeanRun p = {static_cast<uint32_t>(outer),
                                static_cast<uint32_t>(count),
                                static_cast<uint32_t>(inner),
                                {2, -17, 4, 1500000000, -count / 100, -128, 120}};
        Invocation call(PteOp::thimble_mean_run);
        call.add(random_codes(random, {outer, count, inner})).add(packed_value(p));
        call.add(make(DType::kI8, {outer, 1, inner}));
        ASSERT_NO_FATAL_FAILURE(call.run());
        for (Sizes at; next({outer, 1, inner}, at);) {
          int64_t sum = 0;
          for (Sizes from = at; from[1] < count; ++from[1]) sum += call.value(0).i8(from) - 17;
          const int64_t y = requantized(sum, p.mean.mult, p.mean.shift) + 4;
          ASSERT_EQ(call.out().i8(at), clamped(y, -128, 120));
        }
      }
    }
  }
}

uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

TEST(QuantizeNest, HalvesNeighboursAndOddNumbers) {
  Random random(6);
  for (const float scale : {0.5F, 0.1F, 1.0F / 3, 7.25F, 3e-20F, 8e25F}) {
    for (const int32_t zero_point : {-128, 0, 3, 127}) {
      std::vector<float> x = {0.0F,
                              -0.0F,
                              1e-45F,
                              -1e-40F,
                              1e38F,
                              -1e38F,
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};
      for (int half = -600; half <= 600; ++half) {
        const uint32_t bits = bits_of(static_cast<float>(half) * 0.5F * scale);
        for (const uint32_t near : {bits - 2, bits - 1, bits, bits + 1, bits + 2}) {
          x.push_back(std::bit_cast<float>(near));
        }
      }
      for (int i = 0; i < 1000; ++i)
        x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
      const auto count = static_cast<uint32_t>(x.size());
      Value from = make(DType::kF32, {static_cast<int32_t>(count)});
      std::memcpy(from.data.get(), x.data(), from.bytes);
      const abi::QuantizeNest p = {nest_of({{count, 1, 1}}), {}, zero_point, 1.0F / scale, 1};
      Invocation call(PteOp::thimble_quantize_nest);
      call.add(std::move(from)).add(packed_value(p));
      call.add(make(DType::kI8, {static_cast<int32_t>(count)}));
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(call.out().as<int8_t>()[i], numerics::quantize_i8(x[i], 1.0F / scale, zero_point))
            << x[i] << " scale " << scale;
      }
    }
  }
}

TEST(DequantizeNest, AllInt8Values) {
  for (const float scale : {0.5F, 0.1F, 1.0F / 3, 7.25F, 3e-20F, 8e25F, 0.0078125F}) {
    for (int32_t zero_point = -128; zero_point <= 127; ++zero_point) {
      Value x = make(DType::kI8, {256});
      for (int i = 0; i < 256; ++i) x.as<int8_t>()[i] = static_cast<int8_t>(i);
      const abi::QuantizeNest p = {nest_of({{256, 1, 1}}), {}, zero_point, scale, 1};
      Invocation call(PteOp::thimble_dequantize_nest);
      call.add(std::move(x)).add(packed_value(p)).add(make(DType::kF32, {256}));
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (int i = 0; i < 256; ++i) {
        const float expected = static_cast<float>(static_cast<int8_t>(i) - zero_point) * scale;
        ASSERT_EQ(bits_of(call.out().as<float>()[i]), bits_of(expected)) << i;
      }
    }
  }
}

TEST(DequantizeNest, AllInt16Values) {
  for (const float scale : {1.0F / 32768, 0.1F, 1.0F / 3, 7.25F, 3e-20F, 8e25F}) {
    for (const int32_t zero_point : {0, -128, 127}) {
      Value x = make(DType::kI16, {65536});
      for (int i = 0; i < 65536; ++i) x.as<int16_t>()[i] = static_cast<int16_t>(i);
      const abi::QuantizeNest p = {nest_of({{65536, 1, 1}}), {}, zero_point, scale, 2};
      Invocation call(PteOp::thimble_dequantize_nest);
      call.add(std::move(x)).add(packed_value(p)).add(make(DType::kF32, {65536}));
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (int i = 0; i < 65536; ++i) {
        const float expected = static_cast<float>(static_cast<int16_t>(i) - zero_point) * scale;
        ASSERT_EQ(bits_of(call.out().as<float>()[i]), bits_of(expected)) << i;
      }
    }
  }
}

TEST(QuantizeAndDequantize, RefusesScaleOutsideSupportedRange) {
  for (const PteOp op : {PteOp::thimble_quantize_nest, PteOp::thimble_dequantize_nest}) {
    const bool quantizes = op == PteOp::thimble_quantize_nest;
    for (const float factor : {0.0F, 0x1p-101F, 0x1p101F, -1.0F, 1.0F}) {
      Invocation call(op);
      call.add(make(quantizes ? DType::kF32 : DType::kI8, {1}));
      call.add(packed_value(abi::QuantizeNest{nest_of({}), {}, 0, factor, 1}));
      call.add(make(quantizes ? DType::kI8 : DType::kF32, {1}));
      EXPECT_EQ(call.check() == Status::kOk, factor == 1.0F) << factor;
    }
  }
}

TEST(LutTable, AllInt8Values) {
  Random random(7);
  abi::LutTable p = {257, {}};
  for (int8_t& entry : p.table) entry = static_cast<int8_t>(random());
  Value x = make(DType::kI8, {257});
  for (int i = 0; i < 257; ++i) x.as<int8_t>()[i] = static_cast<int8_t>(i);
  Invocation call(PteOp::thimble_lut_packed);
  call.add(std::move(x)).add(packed_value(p)).add(make(DType::kI8, {257}));
  ASSERT_NO_FATAL_FAILURE(call.run());
  for (int i = 0; i < 257; ++i) EXPECT_EQ(call.out().as<int8_t>()[i], p.table[i & 255]);
}

/// Moves a permuted small tensor into the middle of a larger one.
TEST(Move, PermutationsIntoLargerTensor) {
  Random random(8);
  const DType types[] = {DType::kI8, DType::kI16, DType::kF32, DType::kI64};
  for (int i = 0; i < 400; ++i) {
    const DType dtype = types[i % 4];
    const uint32_t element = bytes_of(dtype);
    const Order order = random_order(random, 3);
    Sizes from = {uniform(random, 1, 4), uniform(random, 1, 4), uniform(random, 1, 20)};
    Value x = make(dtype, from);
    x.fill(random);
    // Dimension d of y is dimension order[d] of x, after d elements of fill.
    Sizes to;
    for (size_t d = 0; d < 3; ++d) to.push_back(from[order[d]] + static_cast<int32_t>(d));
    const uint32_t x_steps[] = {static_cast<uint32_t>(from[1] * from[2]),
                                static_cast<uint32_t>(from[2]), 1};
    const uint32_t y_steps[] = {static_cast<uint32_t>(to[1] * to[2]), static_cast<uint32_t>(to[2]),
                                1};
    abi::Move p = {};
    std::vector<TestAxis> axes;
    for (size_t d = 0; d < 3; ++d) {
      axes.push_back({static_cast<uint32_t>(from[order[d]]), y_steps[d] * element,
                      x_steps[order[d]] * element});
      p.offset[0] += static_cast<uint32_t>(d) * y_steps[d] * element;
    }
    std::shuffle(axes.begin(), axes.end(), random);
    p.nest = nest_of(axes);
    p.element_bytes = element;
    Value y = make(dtype, to);
    p.fill_bytes = y.bytes;
    p.fill = 0x5A5A5A5A;
    Invocation call(PteOp::thimble_move);
    call.add(std::move(x)).add(packed_value(p)).add(std::move(y));
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (Sizes at; next(to, at);) {
      std::vector<uint8_t> expected(element, 0x5A);
      const bool inside = at[1] >= 1 && at[2] >= 2;
      if (inside) {
        size_t place = 0;
        for (size_t d = 0; d < 3; ++d) {
          place += static_cast<size_t>(at[d] - static_cast<int32_t>(d)) * x_steps[order[d]];
        }
        std::memcpy(expected.data(), call.value(0).data.get() + place * element, element);
      }
      ASSERT_EQ(std::memcmp(call.out().data.get() + call.out().at(at) * element, expected.data(),
                            element),
                0);
    }
    // An access one byte after the end of either operand is refused.
    for (const uint32_t which : {0U, 1U}) {
      abi::Move bad = p;
      bad.offset[which] += (which == 0 ? call.out().bytes : call.value(0).bytes);
      call.value(1) = packed_value(bad);
      EXPECT_EQ(call.check(), Status::kBadShape);
    }
  }
}

TEST(Concat, TwoToFourOperands) {
  Random random(9);
  const PteOp ops[] = {PteOp::thimble_concat2, PteOp::thimble_concat3, PteOp::thimble_concat4};
  for (int32_t count = 2; count <= 4; ++count) {
    Invocation call(ops[count - 2]);
    abi::Concat p = {5, {}};
    int32_t width = 0;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t part = 3 + i * 7;
      call.add(random_codes(random, {5, part}));
      p.bytes[i] = static_cast<uint32_t>(part);
      width += part;
    }
    call.add(packed_value(p)).add(make(DType::kI8, {5, width}));
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (int32_t row = 0; row < 5; ++row) {
      int32_t column = 0;
      for (int32_t i = 0; i < count; ++i) {
        Value& x = call.value(static_cast<size_t>(i));
        for (int32_t k = 0; k < x.sizes[1]; ++k) {
          ASSERT_EQ(call.out().i8({row, column++}), x.i8({row, k}));
        }
      }
    }
    p.outer = 4;
    call.value(static_cast<size_t>(count)) = packed_value(p);
    EXPECT_EQ(call.check(), Status::kBadShape);
  }
}

}  // namespace
}  // namespace thimble::kernels::test
