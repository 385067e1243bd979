// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_log_mel.h"

#include <fmt/format.h>

#include "passes_support.h"

namespace thimble::test {
namespace {

using passes::fuse_log_mel;

// Hexadecimal constants are little-endian float32. 1 = 0000803f, 2 = 00000040, 1e-5 = acc52737.
constexpr const char* kSpectrumHead = R"(graph @forward {
    input %x: f32[2,20]
    input %all: f32[2,12]
    const %window: f32[8] = 0x0000803f...
    const %twos: f32[8] = 0x00000040...
    const %mel: f32[3,5] = 0x0000803f...
    const %eps: f32[] = 0xacc52737
    const %two: f32[] = 0x00000040
)";

ir::Graph fused_log_mel(const std::string& body) {
  return run_pass(fuse_log_mel, kSpectrumHead + body + "}");
}
std::string fused_names(const std::string& body) {
  return op_names(fused_log_mel(body));
}

TEST(FuseLogMel, SquareOfTheRootAndTransposedFilters) {
  const ir::Graph graph = fused_log_mel(R"(
    %p: f32[2,4,5] = power_spectrum(%x, %window) {hop=4}
    %t: f32[2,5,4] = permute(%p) {dims=[0,2,1]}
    %r: f32[2,5,4] = sqrt(%t)
    %s: f32[2,5,4] = mul(%r, %r)
    %u: f32[2,4,5] = permute(%s) {dims=[0,2,1]}
    %m: f32[2,4,3] = linear(%u, %mel, _)
    %v: f32[2,3,4] = permute(%m) {dims=[0,2,1]}
    %c: f32[2,3,4] = clamp(%v) {min=1e-10}
    %l: f32[2,3,4] = log(%c)
    %k: f32[2,3,4] = mul(%l, %two)
    %y: f32[2,3,4] = sub(%k, %eps)
    output %y
  )");
  ASSERT_EQ(op_names(graph), "log_mel permute");
  const ir::Op& op = graph.ops()[0];
  EXPECT_EQ(op.get(ir::attr::hop), 4);
  EXPECT_EQ(op.get(ir::attr::floor), 1e-10);
  EXPECT_EQ(op.get(ir::attr::eps), 0);
  EXPECT_EQ(op.get(ir::attr::scale), 2);
  EXPECT_NEAR(op.get(ir::attr::float_offset), -1e-5, 1e-10);
  EXPECT_EQ(graph.value(graph.ops()[1].output).name, "y");
}

/// Two frames of 8 elements, 4 apart; `last` is the position of the last element.
std::string two_frames(int64_t last) {
  std::string at = "const %at: i64[16] = 0x";
  for (int64_t i = 0; i < 16; ++i) {
    at += fmt::format("{:02x}00000000000000", i == 15 ? last : i / 8 * 4 + i % 8);
  }
  return at + R"(
    %g: f32[2,16] = gather(%x, %at) {dim=1}
    %f: f32[2,2,8] = reshape(%g) {shape=[2,2,8]}
    %w: f32[2,2,8] = mul(%f, %twos)
    %p: f32[2,2,1,5] = power_spectrum(%w, %window) {hop=8}
    %q: f32[2,2,5] = reshape(%p) {shape=[2,2,5]}
    %m: f32[2,2,3] = linear(%q, %mel, _)
    %e: f32[2,2,3] = add(%m, %eps)
    %y: f32[2,2,3] = log(%e)
    output %y
  )";
}

/// Returns `body` with the frames of the input with 12 elements.
std::string with_row(std::string body) {
  return body.replace(body.find("gather(%x"), 9, "gather(%all");
}

TEST(FuseLogMel, FramesThatAreNotThoseOfTheRow) {
  // The rows have 4 frames: two of them, or another element, are not all frames of a row.
  for (const int64_t last : {11, 12}) {
    const ir::Graph graph = fused_log_mel(two_frames(last));
    ASSERT_EQ(op_names(graph), "gather log_mel") << last;
    EXPECT_EQ(graph.ops()[1].get(ir::attr::hop), 8);
  }
}

TEST(FuseLogMel, FramesOfTheRowAsInCoreAten) {
  const ir::Graph graph = fused_log_mel(with_row(two_frames(11)));
  ASSERT_EQ(op_names(graph), "log_mel");
  const ir::Op& op = graph.ops()[0];
  EXPECT_EQ(op.get(ir::attr::hop), 4);
  EXPECT_EQ(graph.value(op.inputs[1]).constant->data<float>()[0], 2);
  EXPECT_NEAR(op.get(ir::attr::eps), 1e-5, 1e-10);
}

TEST(FuseLogMel, OtherBinsOrFactorsAreNotFused) {
  EXPECT_EQ(fused_names(R"(
    %p: f32[2,4,5] = power_spectrum(%x, %window) {hop=4}
    %q: f32[2,5,4] = permute(%p) {dims=[0,2,1]}
    %t: f32[2,4,5] = reshape(%q) {shape=[2,4,5]}
    %m: f32[2,4,3] = linear(%t, %mel, _)
    %y: f32[2,4,3] = log(%m)
    output %y
  )"),
            "power_spectrum permute reshape linear log");
  EXPECT_EQ(fused_names(R"(
    %p: f32[2,4,5] = power_spectrum(%x, %window) {hop=4}
    %r: f32[2,4,5] = sqrt(%p)
    %m: f32[2,4,3] = linear(%r, %mel, _)
    %y: f32[2,4,3] = log(%m)
    output %y
  )"),
            "power_spectrum sqrt linear log");
}

TEST(FuseLogMel, AnotherReaderOfTheLogarithmKeepsIt) {
  EXPECT_EQ(fused_names(R"(
    %p: f32[2,4,5] = power_spectrum(%x, %window) {hop=4}
    %m: f32[2,4,3] = linear(%p, %mel, _)
    %l: f32[2,4,3] = log(%m)
    %y: f32[2,4,3] = mul(%l, %two)
    output %l
    output %y
  )"),
            "log_mel mul");
}

}  // namespace
}  // namespace thimble::test
