// The operators that the importer makes of small programs, compared as text.

#include <gtest/gtest.h>

#include "eval/evaluate.h"
#include "import_program.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace thimble::import_pt2 {
namespace {

using testing::ints;
using testing::Program;
using testing::real;
using testing::ref;
using testing::size;
using testing::whole;
namespace pt2 = formats::pt2;

std::vector<pt2::SymInt> sizes(std::vector<int64_t> values) {
  std::vector<pt2::SymInt> result;
  for (const int64_t value : values) result.push_back(size(value));
  return result;
}

ImportedModel imported(const Program& program) {
  auto model = program.import();
  EXPECT_TRUE(model.ok()) << model.error().message;
  if (!model.ok()) return {};
  const auto verified = ir::verify(model->graph);
  EXPECT_TRUE(verified.ok()) << verified.error().message;
  return *std::move(model);
}

/// Returns the kinds of the operators, in order.
std::string kinds(const ImportedModel& model) {
  std::string text;
  for (const ir::Op& op : model.graph.ops()) {
    text += (text.empty() ? "" : " ") + std::string(ir::op_name(op.kind));
  }
  return text;
}

std::vector<float> run(const ImportedModel& model, const ir::Shape& shape) {
  ir::Tensor x = ir::zeros(ir::DType::kF32, shape);
  float next = 0;
  for (float& value : x.data<float>()) value = next++;
  const auto outputs = eval::evaluate(model.graph, std::vector<ir::Tensor>{x});
  EXPECT_TRUE(outputs.ok()) << outputs.error().message;
  if (!outputs.ok()) return {};
  const auto values = outputs->at(0).data<float>();
  return {values.begin(), values.end()};
}

TEST(ImportGraph, SourceOfEveryOperator) {
  Program program;
  program.input("x", sizes({1, 2}))
      .node("aten.relu.default", {{"self", ref("x")}}, "y", sizes({1, 2}))
      .output("y");
  const ImportedModel model = imported(program);
  ASSERT_EQ(model.graph.ops().size(), 1U);
  const ir::Source wanted = {"net.py", 10, "y = ...", "block", "aten.relu.default", "y"};
  EXPECT_EQ(model.graph.ops()[0].source, wanted);
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_EQ(model.outputs[0].name, "y");
}

TEST(ImportGraph, ProvenanceOfEveryNode) {
  using Made = ImportedNode::Result;
  Program program;
  program.input("x", sizes({1, 2}))
      .node("aten.relu.default", {{"self", ref("x")}}, "y", sizes({1, 2}))
      .node("aten.alias.default", {{"self", ref("y")}}, "same", sizes({1, 2}))
      .node("aten.sigmoid.default", {{"self", ref("same")}}, "unused", sizes({1, 2}))
      .output("same");
  const ImportedModel model = imported(program);
  ASSERT_EQ(model.nodes.size(), 3U);
  EXPECT_EQ(model.nodes[0].source.node, "y");
  EXPECT_EQ(model.nodes[0].result, Made::kOperators);
  EXPECT_TRUE(model.nodes[0].needed);
  EXPECT_EQ(model.nodes[1].source.target, "aten.alias.default");
  EXPECT_EQ(model.nodes[1].result, Made::kOperand);
  EXPECT_TRUE(model.nodes[1].needed);
  EXPECT_EQ(model.nodes[2].result, Made::kOperators);
  EXPECT_FALSE(model.nodes[2].needed);
}

TEST(ImportGraph, NoOpDataMovementIsRemoved) {
  Program program;
  program.input("x", sizes({2, 3}))
      .node("aten.view.default", {{"self", ref("x")}, {"size", ints({2, -1})}}, "a", sizes({2, 3}))
      .node("aten.permute.default", {{"self", ref("a")}, {"dims", ints({0, -1})}}, "b",
            sizes({2, 3}))
      .node("aten.slice.Tensor", {{"self", ref("b")}, {"dim", whole(1)}, {"end", whole(INT64_MAX)}},
            "c", sizes({2, 3}))
      .node("aten.clone.default", {{"self", ref("c")}}, "d", sizes({2, 3}))
      .node("aten.sigmoid.default", {{"self", ref("d")}}, "e", sizes({2, 3}))
      .output("e");
  EXPECT_EQ(kinds(imported(program)), "sigmoid");
}

// A write through `x.view(6)[2:4]` changes x and every other view of it.
TEST(ImportGraph, InPlaceThroughViews) {
  Program program;
  program.input("x", sizes({2, 3}))
      .node("aten.clone.default", {{"self", ref("x")}}, "base", sizes({2, 3}))
      .node("aten.t.default", {{"self", ref("base")}}, "turned", sizes({3, 2}))
      .node("aten.view.default", {{"self", ref("base")}, {"size", ints({6})}}, "flat", sizes({6}))
      .node("aten.slice.Tensor", {{"self", ref("flat")}, {"start", whole(2)}, {"end", whole(4)}},
            "part", sizes({2}))
      .node("aten.mul_.Tensor", {{"self", ref("part")}, {"other", real(10)}}, "mul_", sizes({2}))
      .node("aten.add.Tensor", {{"self", ref("turned")}, {"other", whole(0)}}, "y", sizes({3, 2}))
      .output("y");
  const std::vector<float> wanted = {0, 30, 1, 4, 20, 5};
  EXPECT_EQ(run(imported(program), {2, 3}), wanted);
}

TEST(ImportGraph, WritesDoNotChangeEarlierCopies) {
  Program program;
  program.input("x", sizes({2}))
      .node("aten.clone.default", {{"self", ref("x")}}, "copy", sizes({2}))
      .node("aten.add_.Tensor", {{"self", ref("x")}, {"other", whole(5)}}, "add_", sizes({2}))
      .node("aten.mul.Tensor", {{"self", ref("copy")}, {"other", whole(1)}}, "y", sizes({2}))
      .output("y");
  EXPECT_EQ(run(imported(program), {2}), (std::vector<float>{0, 1}));
}

TEST(ImportGraph, NonInvertibleWritesAreRefused) {
  Program program;
  program.input("x", sizes({4}))
      .node("aten.slice.Tensor", {{"self", ref("x")}, {"step", whole(2)}}, "even", sizes({2}))
      .node("aten.relu_.default", {{"self", ref("even")}}, "relu_", sizes({2}))
      .node("aten.add.Tensor", {{"self", ref("x")}, {"other", whole(1)}}, "y", sizes({4}))
      .output("y");
  EXPECT_TRUE(program.error().starts_with(
      "unsupported: aten.relu_.default is not supported: writes through a slice with a step\n"))
      << program.error();
}

TEST(ImportGraph, MeanOfAnImageIsAPool) {
  Program program;
  program.input("x", sizes({1, 2, 3, 4}))
      .node("aten.mean.dim", {{"self", ref("x")}, {"dim", ints({-1, 2})}}, "y", sizes({1, 2}))
      .output("y");
  const ImportedModel model = imported(program);
  EXPECT_EQ(kinds(model), "avg_pool2d reshape");
  EXPECT_EQ(run(model, {1, 2, 3, 4}), (std::vector<float>{5.5F, 17.5F}));
}

TEST(ImportGraph, OutputInItsExportedOrder) {
  Program program;
  program.input("x", sizes({1, 2, 3, 4}))
      .node("aten.relu.default", {{"self", ref("x")}}, "y", sizes({1, 2, 3, 4}))
      .output("y");
  program.exported.graph.tensor_values["y"].strides = sizes({24, 1, 8, 2});
  const ImportedModel model = imported(program);
  EXPECT_EQ(kinds(model), "clamp copy");
  EXPECT_EQ(model.outputs[0].dim_order, ir::channels_last_order());
  EXPECT_EQ(model.graph.type(model.graph.outputs()[0]).dim_order, ir::channels_last_order());
}

}  // namespace
}  // namespace thimble::import_pt2
