// SPDX-License-Identifier: Apache-2.0
// C literals and identifiers, and programs that cannot become C.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "emit/c/model.h"
#include "emit/c/text.h"

namespace thimble::emit::c {
namespace {

TEST(EmitC, NamesAreIdentifiersWithoutReservedForms) {
  EXPECT_EQ(identifier("dscnn_kws"), "dscnn_kws");
  EXPECT_EQ(identifier("my model-v2.1"), "my_model_v2_1");
  EXPECT_EQ(identifier("__x__y_"), "x_y");
  EXPECT_EQ(identifier("8bit"), "model_8bit");
  EXPECT_EQ(identifier("thimble"), "model_thimble");
  EXPECT_EQ(identifier("\xC3\xA4"), "model");
  EXPECT_EQ(identifier(""), "model");
}

TEST(EmitC, UserTextCannotEndCommentOrString) {
  EXPECT_EQ(printable("a*/b"), "a_/b");
  EXPECT_EQ(printable("\"\\n\"?"
                      "?/"),
            "__n___/");
  EXPECT_EQ(printable("x.1 (y)"), "x.1 (y)");
}

TEST(EmitC, WordsAreLittleEndianAndPadded) {
  const Bytes bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{0xFF}};
  EXPECT_EQ(words(bytes, "  "), "  0x04030201u, 0x000000FFu,\n");
  EXPECT_EQ(word_count(5), 2u);
  EXPECT_EQ(words({}, "  "), "");
  EXPECT_EQ(words(Bytes(28), ""), words(Bytes(25), ""));
}

TEST(EmitC, PrintedNumbersParseToSameValue) {
  EXPECT_EQ(int64_literal(-5), "-INT64_C(5)");
  EXPECT_EQ(int64_literal(INT64_MIN), "(-INT64_C(9223372036854775807) - 1)");
  for (const double value : {0.1, -0.0, 1e-300, 3.0}) {
    const std::string text = double_member(value);
    ASSERT_EQ(text.rfind(".number = ", 0), 0u) << text;
    const double read = std::strtod(text.c_str() + 10, nullptr);
    EXPECT_EQ(read, value);
    EXPECT_EQ(std::signbit(read), std::signbit(value));
  }
  EXPECT_EQ(double_member(std::numeric_limits<double>::infinity()),
            ".integer = INT64_C(9218868437227405312)");
  for (const float value : {1.0F / 255, 3.0F, 1e-30F}) {
    const std::string text = float_literal(value);
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), value) << text;
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
}

formats::pte::Program one_call(formats::pte::Instruction instruction) {
  formats::pte::Program program;
  program.plans.resize(1);
  program.plans[0].chains[0].instructions.push_back(std::move(instruction));
  return program;
}

TEST(EmitC, RefusesInstructionsOtherThanKernelCalls) {
  const auto program = one_call(formats::pte::DelegateCall{});
  const Result<Model> model =
      write(program, {"m", "cortex-m4", {formats::pte::ChosenKernel{}}, {"x"}, {}, {}}, {});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(model.error().message, "--emit c: instruction 0 is not a kernel call");
}

TEST(EmitC, RefusesConstantArgumentsFromFile) {
  const auto program = one_call(formats::pte::KernelCall{});
  const formats::pte::ChosenKernel gelu = {"portable", "aten_gelu", "Tco"};
  const Result<Model> model = write(program, {"m", "cortex-m4", {gelu}, {"x"}, {}, {}}, {});
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("aten_gelu"), std::string::npos);
}

TEST(EmitC, RefusesSeveralMemories) {
  formats::pte::Program program;
  program.plans.resize(1);
  program.plans[0].memory_sizes = {0, 16, 16};
  const Result<Model> model = write(program, {"m", "cortex-m4", {}, {}, {}, {}}, {});
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("2 memories"), std::string::npos);
}

}  // namespace
}  // namespace thimble::emit::c
