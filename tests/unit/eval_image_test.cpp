// SPDX-License-Identifier: Apache-2.0
// Transposed convolution, adaptive pools and bilinear resizing on values computed by hand.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/unit/eval_support.h"

namespace thimble {
namespace {

using test::codes;
using test::floats;
using test::run;
using test::words;

TEST(ConvTranspose, EachInputContributesToItsWindow) {
  const auto x = floats({1, 1, 1, 2}, {1, 10});
  const auto w = floats({1, 1, 1, 3}, {1, 2, 3});
  const auto attrs = [](std::string_view what) {
    return fmt::format("conv_transpose2d(%x, %w, _) {{{}}}", what);
  };
  const auto y = [&](std::string_view what) { return run({{"x", x}, {"w", w}}, attrs(what)); };
  EXPECT_EQ(y("stride=[1,1], padding=[0,0,0,0], output_padding=[0,0], dilation=[1,1]"),
            floats({1, 1, 1, 4}, {1, 12, 23, 30}));
  EXPECT_EQ(y("stride=[1,3], padding=[0,0,0,0], output_padding=[0,1], dilation=[1,1]"),
            floats({1, 1, 1, 7}, {1, 2, 3, 10, 20, 30, 0}));
  EXPECT_EQ(y("stride=[1,1], padding=[0,1,0,2], output_padding=[0,0], dilation=[1,2]"),
            floats({1, 1, 1, 3}, {10, 2, 20}));
}

TEST(ConvTranspose, GroupsAndBias) {
  // Group 0: input 0 to outputs 0 and 1; group 1: input 1 to outputs 2 and 3.
  const auto x = floats({1, 2, 1, 1}, {1, 2});
  const auto w = floats({2, 2, 1, 1}, {3, 4, 5, 6});
  const auto b = floats({4}, {0, 0, 0, 100});
  EXPECT_EQ(run({{"x", x}, {"w", w}, {"b", b}},
                "conv_transpose2d(%x, %w, %b) {stride=[1,1], padding=[0,0,0,0], "
                "output_padding=[0,0], dilation=[1,1], groups=2}"),
            floats({1, 4, 1, 1}, {3, 4, 10, 112}));
}

TEST(ConvTranspose, Integer) {
  // Multiplier 1/2, halves rounded up. The quantized values 3 and 7 represent 2 and 6. An output
  // without an input is the bias.
  EXPECT_EQ(run({{"x", codes({1, 1, 1, 2}, {3, 7})},
                 {"w", codes({1, 1, 1, 2}, {1, -1}), true},
                 {"b", words({1}, {1}), true},
                 {"m", words({1}, {1 << 30}), true},
                 {"s", words({1}, {0}), true}},
                "qconv_transpose2d(%x, %w, %b, %m, %s) {stride=[1,3], padding=[0,0,0,0], "
                "output_padding=[0,0], dilation=[1,1], x_zp=1, y_zp=10, min=-128, max=13}"),
            codes({1, 1, 1, 5}, {12, 10, 11, 13, 8}));
}

TEST(AdaptivePool, WindowsOfUnequalSize) {
  // Windows of 5 elements: 0..1, 1..3, 3..4, both ends included.
  const auto x = floats({1, 1, 1, 5}, {1, 2, 3, 4, 6});
  EXPECT_EQ(run({{"x", x}}, "adaptive_avg_pool2d(%x) {size=[1,3]}"),
            floats({1, 1, 1, 3}, {1.5, 3, 5}));
  EXPECT_EQ(run({{"x", x}}, "adaptive_max_pool2d(%x) {size=[1,3]}"),
            floats({1, 1, 1, 3}, {2, 4, 6}));
  EXPECT_EQ(run({{"x", x}}, "adaptive_max_pool2d(%x) {size=[2,1]}"), floats({1, 1, 2, 1}, {6, 6}));
  const auto q = codes({1, 1, 1, 5}, {-1, -2, -3, -4, 7});
  EXPECT_EQ(run({{"x", q}}, "qadaptive_avg_pool2d(%x) {size=[1,3]}"),
            codes({1, 1, 1, 3}, {-2, -3, 2}));
  EXPECT_EQ(run({{"x", q}}, "qadaptive_avg_pool2d(%x) {size=[1,3], min=-2, max=1}"),
            codes({1, 1, 1, 3}, {-2, -2, 1}));
  EXPECT_EQ(run({{"x", q}}, "adaptive_max_pool2d(%x) {size=[1,3]}"),
            codes({1, 1, 1, 3}, {-1, -2, 7}));
}

TEST(ResizeBilinear, Float) {
  const auto x = floats({1, 1, 1, 2}, {0, 4});
  EXPECT_EQ(run({{"x", x}}, "resize_bilinear(%x) {size=[1,4]}"),
            floats({1, 1, 1, 4}, {0, 1, 3, 4}));
  EXPECT_EQ(run({{"x", x}}, "resize_bilinear(%x) {size=[2,5], align_corners=1}"),
            floats({1, 1, 2, 5}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(run({{"x", x}}, "resize_bilinear(%x) {size=[1,1], align_corners=1}"),
            floats({1, 1, 1, 1}, {0}));
  // An explicit scale: steps of 0.4 instead of 0.5.
  EXPECT_EQ(
      run({{"x", floats({1, 1, 1, 2}, {0, 10})}}, "resize_bilinear(%x) {size=[1,4], scale_w=2.5}"),
      floats({1, 1, 1, 4}, {0, 1, 5, 9}));
}

TEST(ResizeBilinear, Integer) {
  const auto y = [](const ir::Tensor& x) {
    return run({{"x", x},
                {"f", words({1}, {0}), true},
                {"n", words({1}, {0}), true},
                {"l", words({3}, {0, 0, 1}), true},
                {"w", words({3}, {0, 1024, 2048}), true}},
               "qresize_bilinear(%x, %f, %n, %l, %w)");
  };
  // Halves are rounded up for any zero point. Beyond the last element, the last element is used.
  EXPECT_EQ(y(codes({1, 1, 1, 2}, {-128, 127})), codes({1, 1, 1, 3}, {-128, 0, 127}));
  EXPECT_EQ(y(codes({1, 1, 1, 2}, {-3, -4})), codes({1, 1, 1, 3}, {-3, -3, -4}));
  EXPECT_EQ(y(codes({1, 1, 1, 2}, {3, 4})), codes({1, 1, 1, 3}, {3, 4, 4}));
}

}  // namespace
}  // namespace thimble
