// SPDX-License-Identifier: Apache-2.0
#include "passes/narrow_integers.h"
#include "passes_support.h"

namespace thimble::test {
namespace {

using passes::narrow_integers;

constexpr const char* kInputs = R"(graph @forward {
    input %ids: i64[2,3]
    input %mask: bool[2,3]
    const %one: i64[] = 0x0100000000000000
    const %large: i64[] = 0x0000000001000000
    const %table: f32[3,1] = 0x0000803f0000004000004040
)";

/// Narrows a graph and checks that its values for small integers did not change.
ir::Graph narrowed(const std::string& body) {
  const ir::Graph before = parsed(kInputs + body + "\n}");
  const auto after = narrow_integers(before);
  EXPECT_TRUE(after.ok()) << (after.ok() ? "" : after.error().message);
  if (!after.ok()) return {};
  ir::Graph result = ir::remove_unused(*after);
  EXPECT_TRUE(ir::verify(result).ok());
  ir::Tensor ids = ir::zeros(ir::DType::kI64, {2, 3}), mask = ir::zeros(ir::DType::kBool, {2, 3});
  for (size_t i = 0; i < 6; ++i) {
    ids.data<int64_t>()[i] = static_cast<int64_t>(i * 5 % 7) - 3;
    mask.data<uint8_t>()[i] = i % 4 == 0 ? 1 : 0;
  }
  const std::vector<ir::Tensor> inputs{std::move(ids), std::move(mask)};
  const auto expected = eval::evaluate(before, inputs);
  const auto got = eval::evaluate(result, inputs);
  EXPECT_TRUE(expected.ok() && got.ok());
  EXPECT_EQ(*expected, *got) << ir::print(result);
  return result;
}

TEST(NarrowIntegers, InputsAndOutputsKeepTheirTypes) {
  EXPECT_EQ(op_names(narrowed(R"(
    %a: i64[2,3] = int_pair(%ids, %one) {function=0}
    %b: i64[2,3] = int_cumsum(%a) {dim=1}
    output %b)")),
            "int_cast int_pair int_cumsum int_cast");
}

TEST(NarrowIntegers, SelectionsAndPositionsAreComputedIn32Bits) {
  const ir::Graph graph = narrowed(R"(
    %a: i64[2,3] = where(%mask, %one, %ids)
    %b: i64[2,3] = int_pair(%a, %one) {function=1}
    %c: bool[2,3] = compare(%b, %one) {relation=2}
    %y: f32[2,3,1] = gather(%table, %b) {dim=0}
    output %y
    output %c)");
  EXPECT_EQ(op_names(graph), "int_cast where int_pair compare gather");
  for (const ir::Op& op : graph.ops()) EXPECT_NE(graph.type(op.output).dtype, ir::DType::kI64);
}

TEST(NarrowIntegers, AnyAllAndPositionsOfExtremesAreReductions) {
  EXPECT_EQ(op_names(narrowed(R"(
    %a: bool[2] = amax(%mask) {dims=[1]}
    %b: bool[2] = amin(%mask) {dims=[1]}
    %c: i64[2] = argmax(%ids) {dim=1}
    output %a
    output %b
    output %c)")),
            "int_reduce int_reduce int_cast int_reduce int_cast");
}

TEST(NarrowIntegers, OtherGraphsDoNotChange) {
  EXPECT_EQ(op_names(narrowed(R"(
    %a: bool[2,3] = compare(%ids, %large) {relation=0}
    output %a)")),
            "compare");
}

TEST(NarrowIntegers, AConstantMustFit) {
  const ir::Graph graph = parsed(std::string(kInputs) + R"(
    %a: i64[2,3] = int_pair(%ids, %large) {function=0}
    output %a
  })");
  const auto narrow = narrow_integers(graph);
  ASSERT_FALSE(narrow.ok());
  EXPECT_EQ(
      narrow.error().message,
      "int_pair: the integer 4294967296 does not fit 32 bits, in which a device computes: use a "
      "number up to 2147483647");
}

}  // namespace
}  // namespace thimble::test
