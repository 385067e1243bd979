// SPDX-License-Identifier: Apache-2.0
// conv2d_scalar, depthwise_scalar and linear_scalar, compared with thimble::conv2d, which
// conv_test.cpp compares with the formula; and the calls that their checks refuse.

#include <gtest/gtest.h>

#include <cstring>

#include "abi/matmul_scalar.h"
#include "abi/params/window.h"
#include "tests/kernels/scalar_case.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;
using abi::WindowGeometry;

/// Runs the same image through both kernels and compares the results.
void expect_same(const ConvCase& original, Invocation packed, Random& random) {
  ConvCase c = original;
  if (c.bias.empty()) c.bias.assign(static_cast<size_t>(c.out_c), 0);
  Invocation general = c.native(random, PteOp::thimble_conv2d);
  ASSERT_EQ(general.value(0).bytes, packed.value(0).bytes);
  std::memcpy(packed.value(0).data.get(), general.value(0).data.get(), general.value(0).bytes);
  ASSERT_NO_FATAL_FAILURE(general.run()) << c.text();
  ASSERT_NO_FATAL_FAILURE(packed.run()) << c.text();
  ASSERT_EQ(general.out().bytes, packed.out().bytes);
  for (uint32_t i = 0; i < general.out().bytes; ++i) {
    ASSERT_EQ(general.out().as<int8_t>()[i], packed.out().as<int8_t>()[i])
        << packed.kernel->name << ' ' << c.text() << " at byte " << i;
  }
  packed.record_equal();
}

TEST(ScalarPacking, ConvolutionsOfAnyWindow) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    ConvCase c;
    c.set_axis(0, packed_axis(random, 4, 5));
    c.set_axis(1, packed_axis(random, 4, 5));
    c.in_c = uniform(random, 1, 9);
    c.out_c = uniform(random, 1, 7);
    c.randomize(random);
    ASSERT_NO_FATAL_FAILURE(expect_same(c, scalar_conv(c, random), random));
  }
}

TEST(ScalarPacking, DepthwiseConvolutionsOfAnyWindow) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    ConvCase c;
    c.set_axis(0, packed_axis(random, 4, 5));
    c.set_axis(1, packed_axis(random, 4, 5));
    c.groups = c.in_c = uniform(random, 2, 9);
    c.out_c = c.in_c * uniform(random, 1, 3);
    c.randomize(random);
    ASSERT_NO_FATAL_FAILURE(expect_same(c, scalar_conv(c, random), random));
  }
}

TEST(ScalarPacking, LinearLayers) {
  Random random(2);
  for (int32_t rows = 1; rows <= 7; ++rows) {
    for (int32_t in = 1; in <= 13; ++in) {
      for (int32_t out = 1; out <= 9; ++out) {
        ConvCase c;
        c.set_axis(0, {rows, 1, 1, 1, 0, rows});
        c.set_axis(1, {1, 1, 1, 1, 0, 1});
        c.in_c = in;
        c.out_c = out;
        c.randomize(random);
        ASSERT_NO_FATAL_FAILURE(expect_same(c, scalar_linear(c, random), random));
      }
    }
  }
}

TEST(ScalarPacking, EveryShiftAtTheEdgesOfRounding) {
  Random random(3);
  for (int32_t shift = 1; shift <= abi::kScalarShiftMax; ++shift) {
    for (int i = 0; i < 200; ++i) {
      ConvCase c;
      c.set_axis(0, {1, 1, 1, 1, 0, 1});
      c.set_axis(1, {1, 1, 1, 1, 0, 1});
      c.in_c = 1;
      c.out_c = 8;
      c.randomize(random);
      c.shift.assign(8, -shift);
      // With multiplier 2^30, sums near odd multiples of 2^shift give halves before rounding.
      if (i % 2 == 0) c.mult.assign(8, 1 << 30);
      c.bias.assign(8, 0);
      for (int32_t& b : c.bias) {
        b = uniform(random, -120, 120) * (1 << shift) + uniform(random, -3, 3);
      }
      ASSERT_NO_FATAL_FAILURE(expect_same(c, scalar_conv(c, random), random));
    }
  }
}

ConvCase base(Random& random) {
  ConvCase c;
  c.set_axis(0, {5, 3, 1, 1, 1, 5});
  c.set_axis(1, {6, 3, 2, 1, 1, 3});
  c.in_c = 3;
  c.out_c = 4;
  c.randomize(random);
  return c;
}

template <class Change>
Status refusal(Change change) {
  Random random(4);
  Invocation call = scalar_conv(base(random), random);
  change(call);
  return call.check();
}

TEST(ScalarPacking, RefusalsOfDepthwise) {
  Random random(6);
  ConvCase c = base(random);
  c.groups = 3;
  c.out_c = 6;
  c.randomize(random);
  const auto status = [&](auto change) {
    Invocation call = scalar_conv(c, random);
    change(call);
    return call.check();
  };
  EXPECT_EQ(status([](Invocation&) {}), Status::kOk);
  EXPECT_EQ(status([](Invocation& i) {
              i.value(1).as<WindowGeometry>()->out_c = 5;
              i.out().sizes[1] = 5, i.out().bytes = 75;
            }),
            Status::kBadShape);
  EXPECT_NE(status([](Invocation& i) { i.value(2).sizes[0] -= 6, i.value(2).bytes -= 6; }),
            Status::kOk);
  EXPECT_EQ(status([](Invocation& i) { i.value(3).sizes[0] -= 1, i.value(3).bytes -= 1; }),
            Status::kScratchTooSmall);
}

TEST(ScalarPacking, BlocksOfLinearLayersNeedMultiplesOfFour) {
  Random random(7);
  const auto status = [&](int32_t in, int32_t out) {
    ConvCase c;
    c.set_axis(0, {2, 1, 1, 1, 0, 2});
    c.set_axis(1, {1, 1, 1, 1, 0, 1});
    c.in_c = in;
    c.out_c = out;
    c.randomize(random);
    Invocation call = scalar_linear(c, random);
    call.value(2).as<abi::ScalarChannel>()->shift |= abi::kScalarBlocks;
    return call.check();
  };
  EXPECT_EQ(status(8, 4), Status::kOk);
  EXPECT_EQ(status(6, 4), Status::kBadParameter);
  EXPECT_EQ(status(8, 5), Status::kBadParameter);
}

TEST(ScalarPacking, Refusals) {
  using I = Invocation;
  const auto geometry = [](I& call) { return call.value(1).as<WindowGeometry>(); };
  EXPECT_EQ(refusal([](I&) {}), Status::kOk);
  EXPECT_EQ(refusal([&](I& i) { geometry(i)->in_h = 6; }), Status::kBadShape);
  EXPECT_EQ(refusal([&](I& i) { geometry(i)->pad_top = 3; }), Status::kBadParameter);
  EXPECT_EQ(refusal([&](I& i) { geometry(i)->stride_w = 0; }), Status::kBadParameter);
  EXPECT_EQ(refusal([&](I& i) { geometry(i)->max = 128; }), Status::kBadParameter);
  // Both changes would need longer weights.
  EXPECT_NE(refusal([&](I& i) { geometry(i)->kernel_h = 4, geometry(i)->pad_top = 2; }),
            Status::kOk);
  EXPECT_NE(refusal([](I& i) { i.value(2).sizes[0] -= 4, i.value(2).bytes -= 4; }), Status::kOk);
  EXPECT_EQ(refusal([](I& i) { i.value(3).sizes[0] -= 1, i.value(3).bytes -= 1; }),
            Status::kScratchTooSmall);
  EXPECT_EQ(refusal([](I& i) { i.value(3).constant = true; }), Status::kBadParameter);
}

}  // namespace
}  // namespace thimble::kernels::test
