// SPDX-License-Identifier: Apache-2.0
// Inputs of a program and of the float model: by name, by position, by shape, and what cannot be
// matched.

#include "tools/match_inputs.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace thimble::tools {
namespace {

using hostrun::Port;

ir::Graph graph() {
  auto parsed = ir::parse(
      "graph @g {\n  input %image: f32[1,3,8,8]\n  input %mask: f32[1,4]\n  input %gain: f32[1,4]\n"
      "  %y = add(%mask, %gain)\n  output %y\n}\n",
      "g.ir");
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return std::move(*parsed);
}

Port port(const std::string& name, const ir::Shape& shape, ir::DType dtype = ir::DType::kF32) {
  Port result;
  result.name = name;
  result.dtype = dtype;
  result.shape = shape;
  return result;
}

using Order = std::vector<size_t>;

TEST(MatchInputs, TheSameOrderHasNoNote) {
  const Port ports[] = {port("input_0", {1, 3, 8, 8}), port("input_1", {1, 4}),
                        port("input_2", {1, 4})};
  const auto matched = match_inputs(graph(), ports, "m.pte");
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(matched->graph_input, (Order{0, 1, 2}));
  EXPECT_EQ(matched->note, "");
}

TEST(MatchInputs, NamesPrecedePositions) {
  const Port ports[] = {port("image", {1, 3, 8, 8}), port("gain", {1, 4}), port("mask", {1, 4})};
  const auto matched = match_inputs(graph(), ports, "m.pte");
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(matched->graph_input, (Order{0, 2, 1}));
  EXPECT_EQ(matched->note,
            "m.pte: inputs in another order than those of the float model, matched by name: image "
            "is image, gain is gain, mask is mask");
}

TEST(MatchInputs, ShapesThatLeaveOneOrder) {
  ir::Graph two =
      std::move(*ir::parse("graph @g {\n  input %image: f32[1,3,8,8]\n  input %mask: f32[1,4]\n"
                           "  %y = clamp(%mask)\n  output %y\n}\n",
                           "g.ir"));
  const Port ports[] = {port("input_0", {1, 4}), port("input_1", {1, 3, 8, 8})};
  const auto matched = match_inputs(two, ports, "m.pte");
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(matched->graph_input, (Order{1, 0}));
  EXPECT_EQ(
      matched->note,
      "m.pte: inputs in another order than those of the float model, matched by shape: input_0 "
      "is mask, input_1 is image");
}

TEST(MatchInputs, SeveralOrdersAreAnError) {
  const Port ports[] = {port("input_0", {1, 4}), port("input_1", {1, 4}),
                        port("input_2", {1, 3, 8, 8})};
  const auto matched = match_inputs(graph(), ports, "m.pte");
  ASSERT_FALSE(matched.ok());
  EXPECT_EQ(matched.error().message,
            "m.pte: input_0 float32[1,4], the float model has image float32[1,3,8,8]");
}

TEST(MatchInputs, AnotherNumberIsAnError) {
  const Port ports[] = {port("input_0", {1, 3, 8, 8})};
  const auto matched = match_inputs(graph(), ports, "m.pte");
  ASSERT_FALSE(matched.ok());
  EXPECT_EQ(matched.error().message, "m.pte: 1 inputs, the float model has 3");
}

}  // namespace
}  // namespace thimble::tools
