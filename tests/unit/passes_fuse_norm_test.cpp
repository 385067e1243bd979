// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_norm.h"

#include "passes_support.h"

namespace thimble::test {
namespace {

using passes::fuse_norm;

// Hexadecimal constants are little-endian float32. 1 = 0000803f, 2 = 00000040, 1e-5 = acc52737,
// 1e-6 = bd378635, 1e-3 = 6f12833a.
constexpr const char* kHead = R"(graph @forward {
    input %x: f32[2,3,4]
    input %other: f32[2,3,4]
    const %one: f32[] = 0x0000803f
    const %eps: f32[] = 0xacc52737
    const %small: f32[] = 0xbd378635
    const %large: f32[] = 0x6f12833a
    const %w: f32[4] = 0x0000803f000000400000803f00000040
    const %b: f32[1,1,4] = 0x0000004000000040000000400000803f
    const %rows: f32[3,1] = 0x0000803f000000400000803f
)";

ir::Graph fused(const std::string& body) {
  return run_pass(fuse_norm, kHead + body + "}");
}
std::string names(const std::string& body) {
  return op_names(fused(body));
}

TEST(FuseNorm, RmsWithWeight) {
  const ir::Graph graph = fused(R"(
    %q: f32[2,3,4] = mul(%x, %x)
    %m: f32[2,3,1] = mean(%q) {dims=[2], keepdim=1}
    %v: f32[2,3,1] = add(%m, %eps)
    %r: f32[2,3,1] = rsqrt(%v)
    %n: f32[2,3,4] = mul(%x, %r)
    %y: f32[2,3,4] = mul(%w, %n)
    output %y
  )");
  ASSERT_EQ(op_names(graph), "rms_norm");
  EXPECT_NEAR(graph.ops()[0].get(ir::attr::eps), 1e-5, 1e-10);
  EXPECT_EQ(graph.value(graph.ops()[0].output).name, "y");
}

TEST(FuseNorm, WeightsOfOtherDimensionsAreNotFused) {
  EXPECT_EQ(names(R"(
    %q: f32[2,3,4] = mul(%x, %x)
    %m: f32[2,3,1] = mean(%q) {dims=[2], keepdim=1}
    %r: f32[2,3,1] = rsqrt(%m)
    %n: f32[2,3,4] = mul(%r, %x)
    %y: f32[2,3,4] = mul(%n, %rows)
    output %y
  )"),
            "rms_norm mul");
}

TEST(FuseNorm, NormalizeOverAMiddleDimension) {
  const ir::Graph graph = fused(R"(
    %q: f32[2,3,4] = mul(%x, %x)
    %s: f32[2,4] = sum(%q) {dims=[1]}
    %l: f32[2,4] = sqrt(%s)
    %k: f32[2,1,4] = reshape(%l) {shape=[2,1,4]}
    %c: f32[2,1,4] = clamp(%k) {min=1e-12}
    %e: f32[2,3,4] = expand(%c) {shape=[2,3,4]}
    %y: f32[2,3,4] = div(%x, %e)
    output %y
  )");
  ASSERT_EQ(op_names(graph), "permute rms_norm permute");
  const ir::Op& norm = graph.ops()[1];
  for (const float w : graph.value(norm.inputs[1]).constant->data<float>()) {
    EXPECT_FLOAT_EQ(w, 1 / std::sqrt(3.0F));
  }
}

TEST(FuseNorm, LayerFromVarianceOrMeanOfSquares) {
  constexpr const char* kCentered = R"(
    %m: f32[2,3,1] = mean(%x) {dims=[2], keepdim=1}
    %u: f32[2,3,4] = sub(%x, %m)
  )";
  constexpr const char* kAffine = R"(
    %s: f32[2,3,4] = mul(%n, %w)
    %y: f32[2,3,4] = add(%b, %s)
    output %y
  )";
  EXPECT_EQ(names(std::string(kCentered) + R"(
    %v: f32[2,3,1] = variance(%x) {dims=[2], keepdim=1}
    %d: f32[2,3,1] = sqrt(%v)
    %e: f32[2,3,1] = add(%d, %small)
    %n: f32[2,3,4] = div(%u, %e))" +
                  kAffine),
            "layer_norm");
  EXPECT_EQ(names(std::string(kCentered) + R"(
    %v: f32[2,3,1] = variance(%x) {dims=[2], keepdim=1}
    %d: f32[2,3,1] = sqrt(%v)
    %s: f32[2,3,4] = mul(%w, %u)
    %n: f32[2,3,4] = div(%s, %d)
    %y: f32[2,3,4] = add(%n, %b)
    output %y)"),
            "layer_norm");
  EXPECT_EQ(names(std::string(kCentered) + R"(
    %q: f32[2,3,4] = mul(%u, %u)
    %v: f32[2,3,1] = mean(%q) {dims=[2], keepdim=1}
    %e: f32[2,3,1] = add(%eps, %v)
    %d: f32[2,3,1] = sqrt(%e)
    %f: f32[2,3,1] = div(%one, %d)
    %n: f32[2,3,4] = mul(%f, %u))" +
                  kAffine),
            "layer_norm");
}

TEST(FuseNorm, AcceptsDuplicatedSubtraction) {
  EXPECT_EQ(names(R"(
    %m: f32[2,3,1] = mean(%x) {dims=[2], keepdim=1}
    %u: f32[2,3,4] = sub(%x, %m)
    %q: f32[2,3,4] = mul(%u, %u)
    %v: f32[2,3,1] = mean(%q) {dims=[2], keepdim=1}
    %e: f32[2,3,1] = add(%v, %eps)
    %d: f32[2,3,1] = sqrt(%e)
    %again: f32[2,3,4] = sub(%x, %m)
    %y: f32[2,3,4] = div(%again, %d)
    output %y
  )"),
            "layer_norm");
}

TEST(FuseNorm, OverAnImage) {
  EXPECT_EQ(op_names(run_pass(fuse_norm, R"(graph @forward {
    input %x: f32[2,3,4,5]
    const %eps: f32[] = 0xacc52737
    %m: f32[2,3,1,1] = avg_pool2d(%x) {kernel=[4,5], stride=[4,5], padding=[0,0,0,0]}
    %u: f32[2,3,4,5] = sub(%x, %m)
    %v: f32[2,3,1,1] = variance(%x) {dims=[3,2], keepdim=1, correction=0}
    %e: f32[2,3,1,1] = add(%v, %eps)
    %r: f32[2,3,1,1] = rsqrt(%e)
    %y: f32[2,3,4,5] = mul(%u, %r)
    output %y })")),
            "layer_norm");
}

/// Patterns that differ slightly from a norm are not changed.
TEST(FuseNorm, SimilarPatternsAreNotFused) {
  const auto rms = [](const std::string& change, const std::string& to) {
    std::string body = R"(
    %q: f32[2,3,4] = mul(%x, %x)
    %m: f32[2,3,1] = mean(%q) {dims=[2], keepdim=1}
    %d: f32[2,3,1] = sqrt(%m)
    %e: f32[2,3,1] = add(%d, %small)
    %y: f32[2,3,4] = div(%x, %e)
    output %y
    )";
    const size_t at = body.find(change);
    EXPECT_NE(at, std::string::npos);
    return names(body.replace(at, change.size(), to));
  };
  EXPECT_EQ(rms("%small", "%small"), "rms_norm");
  const std::string parts = "mul mean sqrt add div";
  EXPECT_EQ(rms("%small", "%large"), parts);
  EXPECT_EQ(rms("mul(%x, %x)", "mul(%x, %other)"), parts);
  EXPECT_EQ(rms("div(%x", "div(%other"), parts);
  EXPECT_EQ(rms("div(%x, %e)", "div(%e, %x)"), parts);
  // reshape and permute assign the means to other rows.
  EXPECT_EQ(names(R"(
    %q: f32[2,3,4] = mul(%x, %x)
    %m: f32[2,3] = mean(%q) {dims=[2]}
    %d: f32[2,3] = sqrt(%m)
    %k: f32[3,2,1] = reshape(%d) {shape=[3,2,1]}
    %t: f32[2,3,1] = permute(%k) {dims=[1,0,2]}
    %y: f32[2,3,4] = div(%x, %t)
    output %y
  )"),
            "mul mean sqrt reshape permute div");
}

}  // namespace
}  // namespace thimble::test
