// SPDX-License-Identifier: Apache-2.0
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

// Writes through x[:, start::step] of a tensor with 2 rows.
TEST(ImportGraph, InPlaceThroughSlicesWithAStep) {
  for (int64_t size = 1; size <= 7; ++size) {
    for (int64_t start = 0; start < size; ++start) {
      for (int64_t step = 2; step <= 4; ++step) {
        const int64_t count = (size - start + step - 1) / step;
        Program program;
        program.input("x", sizes({2, size}))
            .node("aten.slice.Tensor",
                  {{"self", ref("x")},
                   {"dim", whole(1)},
                   {"start", whole(start)},
                   {"step", whole(step)}},
                  "part", sizes({2, count}))
            .node("aten.mul_.Tensor", {{"self", ref("part")}, {"other", real(100)}}, "mul_",
                  sizes({2, count}))
            .node("aten.add.Tensor", {{"self", ref("x")}, {"other", whole(0)}}, "y",
                  sizes({2, size}))
            .output("y");
        std::vector<float> wanted;
        for (int64_t i = 0; i < 2 * size; ++i) {
          const int64_t column = i % size;
          const bool written = column >= start && (column - start) % step == 0;
          wanted.push_back(static_cast<float>(written ? 100 * i : i));
        }
        EXPECT_EQ(run(imported(program), {2, size}), wanted)
            << start << " of " << size << " by " << step;
      }
    }
  }
}

TEST(ImportGraph, NonInvertibleWritesAreRefused) {
  Program program;
  program.input("x", sizes({1, 4}))
      .node("aten.expand.default", {{"self", ref("x")}, {"size", ints({3, 4})}}, "wide",
            sizes({3, 4}))
      .node("aten.relu_.default", {{"self", ref("wide")}}, "relu_", sizes({3, 4}))
      .node("aten.add.Tensor", {{"self", ref("x")}, {"other", whole(1)}}, "y", sizes({1, 4}))
      .output("y");
  EXPECT_TRUE(
      program.error().starts_with("unsupported: aten.relu_.default is not supported: writes "
                                  "through an expanded tensor: clone it first\n"))
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

// --- what does not depend on an input

/// Adds x + the known integers `last`, which has 4 elements, as the output.
ImportedModel with_known(Program program, const std::string& last) {
  program
      .node("aten.to.dtype", {{"self", ref(last)}, {"dtype", pt2::ScalarType::kFloat32}}, "real",
            sizes({4}))
      .node("aten.add.Tensor", {{"self", ref("x")}, {"other", ref("real")}}, "sum", sizes({4}))
      .output("sum");
  return imported(program);
}

Program with_positions() {
  Program program;
  program.input("x", sizes({4}))
      .node("aten.arange.default", {{"end", whole(4)}}, "at", sizes({4}), pt2::ScalarType::kInt64);
  return program;
}

TEST(ImportGraph, KnownIntegersBecomeConstants) {
  constexpr auto kInt = pt2::ScalarType::kInt64;
  constexpr auto kBool = pt2::ScalarType::kBool;
  Program program = with_positions();
  program.node("aten.cumsum.default", {{"self", ref("at")}, {"dim", whole(-1)}}, "total",
               sizes({4}), kInt);  // 0 1 3 6
  program.node("aten.remainder.Scalar", {{"self", ref("total")}, {"other", whole(-4)}}, "rest",
               sizes({4}), kInt);  // 0 -3 -1 -2
  program.node("aten.lt.Scalar", {{"self", ref("rest")}, {"other", whole(-1)}}, "low", sizes({4}),
               kBool);  // 0 1 0 1
  program.node("aten.where.ScalarOther",
               {{"condition", ref("low")}, {"self", ref("total")}, {"other", whole(50)}}, "y",
               sizes({4}), kInt);  // 50 1 50 6
  const ImportedModel model = with_known(std::move(program), "y");
  EXPECT_EQ(kinds(model), "add");
  EXPECT_EQ(run(model, {4}), (std::vector<float>{50, 2, 52, 9}));
}

TEST(ImportGraph, KnownIntegersOfSeveralDimensions) {
  constexpr auto kInt = pt2::ScalarType::kInt64;
  Program program = with_positions();
  program
      .node("aten.reshape.default", {{"self", ref("at")}, {"shape", ints({4, 1})}}, "column",
            sizes({4, 1}), kInt)
      .node("aten.sub.Tensor", {{"self", ref("at")}, {"other", ref("column")}}, "distance",
            sizes({4, 4}), kInt)
      .node("aten.tril.default", {{"self", ref("distance")}}, "lower", sizes({4, 4}), kInt)
      .node("aten.sum.dim_IntList", {{"self", ref("lower")}, {"dim", ints({1})}}, "row", sizes({4}),
            kInt);  // 0 -1 -3 -6
  const ImportedModel model = with_known(std::move(program), "row");
  EXPECT_EQ(kinds(model), "add");
  EXPECT_EQ(run(model, {4}), (std::vector<float>{0, 0, -1, -3}));
}

/// Returns the square [[0, 1], [2, 3]] indexed by these tensors of known integers, as 4 elements.
ImportedModel indexed_square(std::vector<std::optional<pt2::TensorName>> indices,
                             const std::vector<pt2::SymInt>& shape) {
  constexpr auto kInt = pt2::ScalarType::kInt64;
  Program program = with_positions();
  const auto two = [&](const char* name, int64_t start, int64_t step, const char* column) {
    program
        .node("aten.arange.start_step",
              {{"start", whole(start)}, {"end", whole(start + 2 * step)}, {"step", whole(step)}},
              name, sizes({2}), kInt)
        .node("aten.unsqueeze.default", {{"self", ref(name)}, {"dim", whole(1)}}, column,
              sizes({2, 1}), kInt);
  };
  two("falling", 1, -1, "falling_column");    // 1 0
  two("from_end", -2, 1, "from_end_column");  // -2 -1
  program
      .node("aten.reshape.default", {{"self", ref("at")}, {"shape", ints({2, 2})}}, "square",
            sizes({2, 2}), kInt)
      .node("aten.index.Tensor", {{"self", ref("square")}, {"indices", std::move(indices)}},
            "chosen", shape, kInt)
      .node("aten.reshape.default", {{"self", ref("chosen")}, {"shape", ints({4})}}, "y",
            sizes({4}), kInt);
  return with_known(std::move(program), "y");
}

TEST(ImportGraph, KnownIntegersByIndex) {
  using Name = pt2::TensorName;
  const auto expect = [](const ImportedModel& model, const std::vector<float>& chosen) {
    EXPECT_EQ(kinds(model), "add");
    std::vector<float> sum = chosen;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<float>(i);
    EXPECT_EQ(run(model, {4}), sum);
  };
  expect(indexed_square({Name{"falling_column"}, Name{"from_end"}}, sizes({2, 2})), {2, 3, 0, 1});
  expect(indexed_square({Name{"falling_column"}}, sizes({2, 1, 2})), {2, 3, 0, 1});
  expect(indexed_square({std::nullopt, Name{"falling"}}, sizes({2, 2})), {1, 0, 3, 2});
}

/// A 64-bit product wraps, as in PyTorch; float32 or double would saturate or round.
TEST(ImportGraph, KnownIntegersWrap) {
  constexpr auto kInt = pt2::ScalarType::kInt64;
  Program program = with_positions();
  program
      .node("aten.add.Scalar", {{"self", ref("at")}, {"other", whole((int64_t{1} << 62) + 1)}},
            "large", sizes({4}), kInt)
      .node("aten.mul.Scalar", {{"self", ref("large")}, {"other", whole(4)}}, "y", sizes({4}),
            kInt);  // 2^64 + 4 + 4 at
  const ImportedModel model = with_known(std::move(program), "y");
  EXPECT_EQ(run(model, {4}), (std::vector<float>{4, 9, 14, 19}));
}

TEST(ImportGraph, KnownIntegersWithImpossibleArguments) {
  constexpr auto kInt = pt2::ScalarType::kInt64;
  const auto message = [&](const char* target, const char* argument, int64_t value) {
    Program program = with_positions();
    program.node(target, {{"self", ref("at")}, {argument, whole(value)}}, "y", sizes({4}), kInt)
        .output("y");
    return program.error();
  };
  EXPECT_NE(message("aten.cumsum.default", "dim", 7).find("expected a dimension"),
            std::string::npos);
  EXPECT_NE(message("aten.remainder.Scalar", "other", 0), "");
  Program program = with_positions();
  program
      .node("aten.index_select.default",
            {{"self", ref("at")}, {"dim", whole(0)}, {"index", ref("at")}}, "same", sizes({4}),
            kInt)
      .node("aten.add.Scalar", {{"self", ref("at")}, {"other", whole(1)}}, "next", sizes({4}), kInt)
      .node("aten.index_select.default",
            {{"self", ref("at")}, {"dim", whole(0)}, {"index", ref("next")}}, "y", sizes({4}), kInt)
      .output("y");
  EXPECT_NE(program.error().find("index 4 of 4 elements"), std::string::npos) << program.error();
}

/// As in detectors: the fill value of a tensor is an element of a known tensor.
TEST(ImportGraph, NumbersOfKnownTensors) {
  const auto program = [](const char* from) {
    Program made;
    made.input("x", sizes({1}));
    made.node("aten.full.default", {{"size", ints({1})}, {"fill_value", real(2.5)}}, "stride",
              sizes({1}));
    pt2::Node item;
    item.name = "item";
    item.target = "torch.ops.aten.item.default";
    item.inputs.push_back({"self", ref(from), false});
    item.outputs.emplace_back(pt2::SymFloatArg{"item", 0});
    made.exported.graph.nodes.push_back(item);
    item.name = "twice";
    item.target = "_operator.mul";
    item.inputs = {{"", pt2::SymFloatArg{"item", 0}, false}, {"", whole(2), false}};
    item.outputs = {pt2::SymFloatArg{"twice", 0}};
    made.exported.graph.nodes.push_back(item);
    made.node(
            "aten.new_full.default",
            {{"self", ref("x")}, {"size", ints({1})}, {"fill_value", pt2::SymFloatArg{"twice", 0}}},
            "strides", sizes({1}))
        .node("aten.add.Tensor", {{"self", ref("x")}, {"other", ref("strides")}}, "y", sizes({1}))
        .output("y");
    return made;
  };
  EXPECT_EQ(run(imported(program("stride")), {1}), std::vector<float>{5});
  EXPECT_NE(program("x").error().find("unsupported: "), std::string::npos);
  EXPECT_NE(program("x").error().find("computed at run time"), std::string::npos);
}

/// Nodes can create constants whose bytes the archive does not have.
TEST(ImportGraph, ConstantsHaveALimitTogether) {
  constexpr int64_t kElements = 1 << 20;  // 4 MiB of float32
  const auto program = [](int constants, int64_t archive_bytes) {
    Program made;
    made.exported.archive_bytes = archive_bytes;
    made.input("x", sizes({kElements}));
    std::string sum = "x";
    for (int i = 0; i < constants; ++i) {
      const std::string name = "full_" + std::to_string(i), next = "add_" + std::to_string(i);
      made.node("aten.full.default", {{"size", ints({kElements})}, {"fill_value", real(i)}}, name,
                sizes({kElements}));
      made.node("aten.add.Tensor", {{"self", ref(sum.c_str())}, {"other", ref(name.c_str())}}, next,
                sizes({kElements}));
      sum = next;
    }
    made.output(sum);
    return made;
  };
  EXPECT_EQ(program(2, 0).error(), "imported");
  EXPECT_EQ(program(3, kElements / 8).error(), "imported");
  EXPECT_NE(program(3, 0).error().find("a constant of shape [1048576], the constants of this model "
                                       "have more than 8388608 B"),
            std::string::npos)
      << program(3, 0).error();
}

TEST(ImportGraph, TensorsWithoutElementsAreLeftOutOfConcatenations) {
  Program program;
  program.input("x", sizes({1, 4}))
      .node("aten.slice.Tensor",
            {{"self", ref("x")}, {"dim", whole(1)}, {"start", whole(4)}, {"end", whole(4)}}, "none",
            sizes({1, 0}))
      .node("aten.relu.default", {{"self", ref("none")}}, "also_none", sizes({1, 0}))
      .node("aten.cat.default",
            {{"tensors", std::vector<pt2::TensorName>{{"x"}, {"also_none"}}}, {"dim", whole(1)}},
            "y", sizes({1, 4}))
      .output("y");
  const ImportedModel model = imported(program);
  EXPECT_EQ(run(model, {1, 4}), (std::vector<float>{0, 1, 2, 3}));
  Program refused;
  refused.input("x", sizes({1, 0})).output("x");
  EXPECT_NE(refused.error(), "imported");
}

}  // namespace
}  // namespace thimble::import_pt2
