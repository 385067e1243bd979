// SPDX-License-Identifier: Apache-2.0
// Whole graphs: inputs, outputs, the callback, and changes that must not change results.

#include <gtest/gtest.h>

#include "eval/evaluate.h"
#include "ir/dce.h"
#include "ir/print.h"
#include "tests/unit/eval_support.h"
#include "tests/unit/ir_random_graph.h"

namespace thimble {
namespace {

using test::floats;

ir::Graph parsed(std::string_view text) {
  auto graph = ir::parse(text, "test");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return *std::move(graph);
}

TEST(Evaluate, RefusesInputsThatDoNotFit) {
  const auto graph = parsed("graph @g { input %x: f32[1,2] output %x }");
  const auto message = [&](std::vector<ir::Tensor> inputs) {
    return eval::evaluate(graph, inputs).error().message;
  };
  EXPECT_EQ(message({}), "0 inputs given, the graph has 1");
  EXPECT_EQ(message({floats({2}, {1, 2})}), "input 0 (%x) is f32[2], expected f32[1,2]");
  EXPECT_EQ(message({test::codes({1, 2}, {1, 2})}), "input 0 (%x) is i8[1,2], expected f32[1,2]");
}

TEST(Evaluate, CallbackReceivesEveryResultInOrder) {
  const auto graph = parsed(R"(graph @g {
    input %x: f32[1]
    const %one: f32[1] = 0x0000803f
    %a = add(%x, %one)
    %unread = mul(%a, %a)
    %b = add(%a, %a)
    output %b
    output %x
    output %b
    output %one
  })");
  std::vector<std::string> seen;
  const std::vector<ir::Tensor> inputs{floats({1}, {2})};
  const auto outputs =
      eval::evaluate(graph, inputs, [&](const ir::Op& op, const ir::Tensor& result) {
        seen.push_back(
            fmt::format("{}={}", graph.value(op.output).name, test::elements(result).at(0)));
      });
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"a=3", "unread=9", "b=6"}));
  EXPECT_EQ(*outputs, (std::vector<ir::Tensor>{floats({1}, {6}), floats({1}, {2}), floats({1}, {6}),
                                               floats({1}, {1})}));
}

/// Returns the outputs as bytes, so that NaN equals itself.
std::vector<std::vector<std::byte>> run_bytes(const ir::Graph& graph, uint64_t seed) {
  const auto outputs = eval::evaluate(graph, test::random_inputs(graph, seed));
  std::vector<std::vector<std::byte>> bytes;
  EXPECT_TRUE(outputs.ok());
  for (const ir::Tensor& tensor : *outputs) bytes.push_back(tensor.bytes);
  return bytes;
}

TEST(Evaluate, RoundTripAndRemoveUnusedDoNotChangeResults) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(fmt::format("random_graph({}, 12)", seed));
    const ir::Graph graph = test::random_graph(seed, 12);
    const auto expected = run_bytes(graph, seed);
    EXPECT_EQ(run_bytes(parsed(ir::print(graph)), seed), expected);
    EXPECT_EQ(run_bytes(ir::remove_unused(graph), seed), expected);
  }
}

TEST(Evaluate, MemoryOrderDoesNotChangeResults) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(fmt::format("random_graph({}, 12)", seed));
    const ir::Graph graph = test::random_graph(seed, 12);
    ir::Graph other = graph;
    for (size_t i = 0; i < other.value_count(); ++i) {
      ir::Type& type = other.value(static_cast<ir::ValueId>(i)).type;
      type.dim_order.clear();
      if (type.shape.size() == 4 && i % 2 == 0) type.dim_order = {3, 1, 0, 2};
    }
    EXPECT_EQ(run_bytes(other, seed), run_bytes(graph, seed));
  }
}

}  // namespace
}  // namespace thimble
