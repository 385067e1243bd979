// SPDX-License-Identifier: Apache-2.0
// Error messages for programs that cannot be imported.

#include <gtest/gtest.h>

#include "import_program.h"

namespace thimble::import_pt2 {
namespace {

using testing::ints;
using testing::Program;
using testing::real;
using testing::ref;
using testing::size;
using testing::whole;
using testing::word;
namespace pt2 = formats::pt2;

Program one_input() {
  return Program().input("x", {size(1), size(3), size(4), size(4)});
}
const std::vector<pt2::SymInt> kShape = {size(1), size(3), size(4), size(4)};

TEST(ImportErrors, AllUnsupportedOperatorsThatOutputsNeed) {
  Program program = one_input();
  program.node("aten.erfinv.default", {{"self", ref("x")}}, "a", kShape)
      .node("aten.relu.default", {{"self", ref("a")}}, "b", kShape)
      .node("aten.cumprod.default", {{"self", ref("b")}, {"dim", whole(1)}}, "c", kShape)
      .node("aten.erfinv.default", {{"self", ref("c")}}, "d", kShape)
      .node("aten.sort.default", {{"self", ref("x")}}, "unused", kShape)
      .node("aten.pad.default",
            {{"self", ref("x")}, {"pad", ints({1, 1})}, {"mode", word("mirror")}}, "e",
            {size(1), size(3), size(4), size(6)})
      .output("d")
      .output("e");
  EXPECT_EQ(program.error(),
            "unsupported: aten.erfinv.default is not supported\n"
            "  net.py:10      a = ...                            in module block\n"
            "  net.py:13      d = ...                            in module block\n"
            "aten.cumprod.default is not supported\n"
            "  net.py:12      c = ...                            in module block\n"
            "aten.pad.default is not supported: mode mirror\n"
            "  net.py:15      e = ...                            in module block");
}

TEST(ImportErrors, UnusedUnsupportedOperatorsAreIgnored) {
  Program program = one_input();
  program.node("aten.erfinv.default", {{"self", ref("x")}}, "unused", kShape)
      .node("aten.relu.default", {{"self", ref("x")}}, "y", kShape)
      .output("y");
  const auto model = program.import();
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->graph.ops().size(), 1U);
}

TEST(ImportErrors, ArgumentsAreLocated) {
  const auto error_of = [](std::vector<std::pair<std::string, pt2::Argument>> arguments) {
    return one_input()
        .node("aten.softmax.int", std::move(arguments), "y", kShape)
        .output("y")
        .error();
  };
  const std::string place = "net.pt2: net.py:10: aten.softmax.int: ";
  EXPECT_EQ(error_of({{"self", ref("x")}}), place + "argument dim is missing");
  EXPECT_EQ(error_of({{"self", ref("x")}, {"dim", word("rows")}}),
            place + "argument dim is of kind string, expected an integer");
  EXPECT_EQ(error_of({{"self", ref("x")}, {"dim", whole(4)}}),
            place + "argument dim is 4, expected a dimension of a tensor of rank 4");
  EXPECT_EQ(error_of({{"self", real(1)}, {"dim", whole(1)}}),
            place + "argument self is of kind float, expected a tensor");
}

TEST(ImportErrors, IntegersHaveALimit) {
  for (const int64_t amount : {INT64_MIN, INT64_MAX, int64_t{1} << 31}) {
    Program program = one_input();
    program.node("aten.pad.default", {{"self", ref("x")}, {"pad", ints({amount, 0})}}, "y", kShape)
        .output("y");
    EXPECT_EQ(program.error(), "net.pt2: net.py:10: aten.pad.default: argument pad is " +
                                   std::to_string(amount) + ", expected -2147483647 to 2147483647");
  }
}

TEST(ImportErrors, ResultTypeMustMatchArchive) {
  Program program = one_input();
  program.node("aten.relu.default", {{"self", ref("x")}}, "y", {size(1), size(3)}).output("y");
  EXPECT_EQ(program.error(),
            "net.pt2: net.py:10: aten.relu.default: y has shape [1,3,4,4], expected [1,3] as in "
            "the archive");
}

TEST(ImportErrors, OperandsThatDoNotFit) {
  Program program = one_input();
  program.input("z", {size(5)})
      .node("aten.add.Tensor", {{"self", ref("x")}, {"other", ref("z")}}, "y", kShape)
      .output("y");
  EXPECT_EQ(program.error(),
            "net.pt2: net.py:10: add: a (%x) is f32[1,3,4,4] and b (%z) is f32[5], "
            "which do not broadcast");
}

TEST(ImportErrors, ElementTypes) {
  Program half = Program().input("x", {size(4)}, pt2::ScalarType::kFloat16);
  half.output("x");
  EXPECT_EQ(half.error(),
            "unsupported: input x is float16, only float32 graphs are supported: export "
            "model.float() with float32 example inputs");
  Program whole_numbers = Program().input("x", {size(4)}, pt2::ScalarType::kInt64);
  whole_numbers
      .node("aten.add.Tensor", {{"self", ref("x")}, {"other", whole(1)}}, "y", {size(4)},
            pt2::ScalarType::kInt64)
      .output("y");
  EXPECT_EQ(whole_numbers.error(), "imported");
}

TEST(ImportErrors, State) {
  Program to_input = one_input();
  to_input.node("aten.relu.default", {{"self", ref("x")}}, "y", kShape)
      .output("y", pt2::OutputKind::kUserInputMutation, "x")
      .output("y");
  EXPECT_EQ(to_input.error(),
            "unsupported: the model writes to its input x: return the new value as an output, or "
            "keep it in a buffer");
}

// Training IR has no entry for a parameter that is written. No output depends on the write.
TEST(ImportErrors, WritesToParameter) {
  Program program = one_input();
  program.parameter("p_h", "cell.h", kShape)
      .node("aten.copy_.default", {{"self", ref("p_h")}, {"src", ref("x")}}, "copy_", kShape)
      .node("aten.relu.default", {{"self", ref("x")}}, "y", kShape)
      .output("y");
  EXPECT_TRUE(program.error().starts_with(
      "unsupported: aten.copy_.default is not supported: it writes to cell.h, and only buffers "
      "can be state\n  net.py:10 "))
      << program.error();
}

Program open_sizes() {
  Program program;
  program.input("x", {size("s0"), size(3), size("2*s1"), size("Symbol('s2', integer=True)")})
      .node("aten.relu.default", {{"self", ref("x")}}, "y",
            {size("s0"), size(3), size("2*s1"), size("s2")})
      .output("y");
  program.exported.range_constraints["s0"] = {2, std::nullopt};
  program.exported.range_constraints["s1"] = {4, 16};
  program.exported.range_constraints["s2"] = {8, 32};
  return program;
}

TEST(Shapes, FixedByOptions) {
  const ir::Shape wanted = {1, 3, 12, 9};
  for (const char* name : {"s1", "x[2]", "x:2"}) {
    const int64_t given = name[0] == 's' ? 6 : 12;
    const auto model = open_sizes().import({{{name, given}, {"s2", 9}}});
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->graph.type(model->graph.outputs()[0]).shape, wanted);
  }
  const auto batch = open_sizes().import({{{"s0", 5}, {"s1", 4}, {"x[3]", 9}}});
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_EQ(batch->graph.type(batch->graph.outputs()[0]).shape, (ir::Shape{5, 3, 8, 9}));
  const auto by_name = open_sizes().import({{{"batch", 5}, {"s1", 4}, {"x:3", 9}}});
  ASSERT_TRUE(by_name.ok()) << by_name.error().message;
  EXPECT_EQ(by_name->graph.type(by_name->graph.outputs()[0]).shape, (ir::Shape{5, 3, 8, 9}));
}

TEST(Shapes, TheOnlySizeHasNoOtherName) {
  Program program;
  program.input("x", {size(1), size("s7")})
      .node("aten.relu.default", {{"self", ref("x")}}, "y", {size(1), size("s7")})
      .output("y");
  EXPECT_EQ(program.error({{{"seq", 8}}}),
            "net.pt2: --shape seq=8: no such size; similar names: s7; the dynamic sizes are s7 (in "
            "x[1], 1 or more); expected one of s7, x:1 (an export does not store the names of "
            "torch.export.Dim)");
}

TEST(Shapes, Errors) {
  const Program program = open_sizes();
  EXPECT_EQ(program.error({{{"s1", 6}}}),
            "net.pt2: the size s2 (in x[3], 8 to 32) is not fixed: give --shape s2=N");
  EXPECT_EQ(program.error({{{"s1", 6}, {"s2", 33}}}),
            "net.pt2: --shape s2=33: the size s2 (in x[3], 8 to 32) cannot be 33");
  EXPECT_EQ(program.error({{{"batch", 0}, {"s1", 6}, {"s2", 8}}}),
            "net.pt2: --shape batch=0: the size s0 (in x[0], 1 or more) cannot be 0");
  const std::string sizes =
      "the dynamic sizes are s0 (in x[0], 1 or more), s1 (in x[2], 4 to 16), s2 (in x[3], 8 to "
      "32); expected one of s0, s1, s2, x:0, x:2, x:3, batch (an export does not store the names "
      "of torch.export.Dim)";
  EXPECT_EQ(program.error({{{"height", 8}}}), "net.pt2: --shape height=8: no such size; " + sizes);
  EXPECT_EQ(program.error({{{"bach", 8}}}),
            "net.pt2: --shape bach=8: no such size; similar names: batch; " + sizes);
  EXPECT_EQ(
      program.error({{{"x[2]", 7}}}),
      "net.pt2: --shape x[2]=7: the size is 2*s1, which cannot be solved for this value; give s1");
  EXPECT_EQ(program.error({{{"s1", 6}, {"x[2]", 8}, {"s2", 8}}}),
            "net.pt2: --shape gives s1 the sizes 6 and 4");
  Program fixed = one_input();
  fixed.output("x");
  EXPECT_EQ(fixed.error({{{"s0", 1}}}), "net.pt2: --shape s0=1: all sizes of the model are fixed");
}

}  // namespace
}  // namespace thimble::import_pt2
