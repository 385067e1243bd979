// SPDX-License-Identifier: Apache-2.0
// Arithmetic on symbolic sizes, in both notations.

#include <gtest/gtest.h>

#include "import/expression.h"

namespace thimble::import_pt2 {
namespace {

const SymbolValues kValues = {{"s0", 7}, {"s1", 3}};

int64_t value(std::string_view text) {
  const auto result = evaluate(text, kValues);
  EXPECT_TRUE(result.ok()) << text << ": " << result.error().message;
  return result.ok() ? *result : INT64_MIN;
}

std::string message(std::string_view text) {
  const auto result = evaluate(text, kValues);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.error().message;
}

TEST(Expression, Infix) {
  const std::pair<std::string_view, int64_t> rows[] = {
      {"s0", 7},          {"2*s0 + 1", 15},   {"s0 - s1 - 1", 3}, {"(s0 - 1)//2 + 1", 4},
      {"-s0//2", -4},     {"s0**2", 49},      {"s0 % s1", 1},     {"Max(1, s0, 9)", 9},
      {"Min(s0, s1)", 3}, {"s0*s1//2*2", 20}, {"((((s0))))", 7},
  };
  for (const auto& [text, wanted] : rows) EXPECT_EQ(value(text), wanted) << text;
}

TEST(Expression, Calls) {
  EXPECT_EQ(value("Symbol('s0', positive=True, integer=True)"), 7);
  EXPECT_EQ(value("Mul(Integer(2), Symbol('s1', positive=True, integer=True))"), 6);
  EXPECT_EQ(value("Add(FloorDiv(Symbol('s0'), Integer(2)), Integer(-1))"), 2);
  EXPECT_EQ(value("Mul(Integer(4), Max(Integer(1), FloorDiv(Symbol('s0'), Integer(2))))"), 12);
  EXPECT_EQ(value("Pow(Symbol('s1'), Integer(3))"), 27);
}

TEST(Expression, Errors) {
  EXPECT_NE(message("s9 + 1").find("s9 has no value"), std::string::npos);
  EXPECT_NE(message("s0 +").find("expected a number or a symbol at position 5"), std::string::npos);
  EXPECT_NE(message("s0 s1").find("unexpected text at position 4"), std::string::npos);
  EXPECT_NE(message("s0//0").find("division by zero"), std::string::npos);
  EXPECT_NE(message("Log(s0, 2)").find("unknown function Log"), std::string::npos);
  EXPECT_NE(message("Abs(s0)").find("function Abs with one argument"), std::string::npos);
  EXPECT_NE(message("Rational(1, 2)*s0").find("unknown function Rational"), std::string::npos);
  EXPECT_NE(message("99999999999999999999").find("too large"), std::string::npos);
  EXPECT_NE(message("s0**40").find("too large"), std::string::npos);
  EXPECT_NE(message(std::string(100'000, '(')).find("too deep"), std::string::npos);
  EXPECT_NE(message(std::string(100'000, '-')).find("too deep"), std::string::npos);
  EXPECT_FALSE(evaluate("", kValues).ok());
}

TEST(Expression, Symbols) {
  const auto symbols = symbols_of("s1*(s0 + s1) // (s0 - s0)");
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  EXPECT_EQ(*symbols, (std::vector<std::string>{"s1", "s0"}));
}

}  // namespace
}  // namespace thimble::import_pt2
