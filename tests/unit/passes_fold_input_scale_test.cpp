// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_input_scale.h"

#include "passes_support.h"

namespace thimble::test {
namespace {

using passes::fold_input_scale;

// Little-endian float32: 1 = 0000803f, 2 = 00000040, 3 = 00004040, 0.5 = 0000003f, 0 = 00000000.
std::string normalized(const std::string& mean, const std::string& std, const std::string& conv) {
  return "graph @f { input %x: f32[1,2,3,3] const %m: f32[2,1,1] = 0x" + mean +
         " const %s: f32[2,1,1] = 0x" + std +
         R"(
    const %w: f32[2,2,2,2] = 0x0000803f000000400000404000000000000000bf0000803f0000004000004040)"
         R"(0000803f000000bf00004040000000000000803f0000803f0000003f00000040
    const %b: f32[2] = 0x0000803f000000bf
    const %g: f32[2,1,2,2] = 0x0000803f000000400000404000000000000000bf0000803f0000004000004040
    %c: f32[1,2,3,3] = sub(%x, %m)
    %y: f32[1,2,3,3] = div(%c, %s) )" +
         conv + " output %z }";
}

const std::string kInner = "{stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}";
const std::string kMeans = "0000803f00000040", kZeros = "0000000000000000";
const std::string kStds = "000000400000003f", kTwos = "0000004000000040";

TEST(FoldInputScale, FoldsMeansAndDeviations) {
  const std::string conv = "%z: f32[1,2,2,2] = conv2d(%y, %w, %b) " + kInner;
  EXPECT_EQ(op_names(run_pass(fold_input_scale, normalized(kMeans, kStds, conv))), "conv2d");
  EXPECT_EQ(op_names(run_pass(fold_input_scale, normalized(kMeans, kTwos, conv))), "conv2d");
}

TEST(FoldInputScale, OfGroupsAndWithoutBias) {
  const std::string conv =
      "%z: f32[1,2,2,2] = conv2d(%y, %g, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1], "
      "groups=2}";
  EXPECT_EQ(op_names(run_pass(fold_input_scale, normalized(kMeans, kStds, conv))), "conv2d");
}

/// The padding is 0 after the subtraction.
TEST(FoldInputScale, OnlyDeviationsBeforePadding) {
  const std::string conv =
      "%z: f32[1,2,3,3] = conv2d(%y, %w, %b) {stride=[1,1], padding=[1,1,0,0], dilation=[1,1]}";
  EXPECT_EQ(op_names(run_pass(fold_input_scale, normalized(kMeans, kStds, conv))),
            "sub div conv2d");
  EXPECT_EQ(op_names(run_pass(fold_input_scale, normalized(kZeros, kStds, conv))), "conv2d");
}

/// One mean and one deviation are zero point and scale of the input.
TEST(FoldInputScale, NotOneMeanAndDeviation) {
  const std::string conv = "%z: f32[1,2,2,2] = conv2d(%y, %w, %b) " + kInner;
  EXPECT_EQ(op_names(run_pass(fold_input_scale, normalized(kTwos, kTwos, conv))), "sub div conv2d");
}

TEST(FoldInputScale, NotIfAnotherOperatorReadsTheResult) {
  const std::string conv = "%z: f32[1,2,2,2] = conv2d(%y, %w, %b) " + kInner + " output %y";
  EXPECT_EQ(op_names(run_pass(fold_input_scale, normalized(kMeans, kStds, conv))),
            "sub div conv2d");
}

}  // namespace
}  // namespace thimble::test
