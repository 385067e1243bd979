// SPDX-License-Identifier: Apache-2.0
// Functions of one value, comparisons and choices, quotients and prelu, on values computed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/result.h"
#include "tests/unit/eval_support.h"

namespace thimble {
namespace {

using test::codes;
using test::elements;
using test::floats;
using test::run;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

ir::Tensor truths(const ir::Shape& shape, const std::vector<uint8_t>& values) {
  ir::Tensor tensor = ir::zeros(ir::DType::kBool, shape);
  std::copy(values.begin(), values.end(), tensor.data<uint8_t>().begin());
  return tensor;
}

TEST(Functions, UnaryFunctions) {
  const auto f = [](const char* op, std::vector<float> x) {
    const auto count = static_cast<int64_t>(x.size());
    return run({{"x", floats({count}, std::move(x))}}, op);
  };
  EXPECT_EQ(f("abs(%x)", {-2, 3, -kInf}), floats({3}, {2, 3, kInf}));
  EXPECT_EQ(f("floor(%x)", {-1.5, 1.5, 2}), floats({3}, {-2, 1, 2}));
  EXPECT_EQ(f("exp(%x)", {0, -kInf, kInf}), floats({3}, {1, 0, kInf}));
  EXPECT_EQ(f("log(%x)", {1, 0, kInf}), floats({3}, {0, -kInf, kInf}));
  EXPECT_EQ(f("sqrt(%x)", {4, 0, 2}), floats({3}, {2, 0, 1.41421356F}));
  EXPECT_EQ(f("rsqrt(%x)", {4, 0.25, 0}), floats({3}, {0.5, 2, kInf}));
  EXPECT_EQ(f("sin(%x)", {0, 0.5}), floats({2}, {0, 0.47942554F}));
  EXPECT_EQ(f("cos(%x)", {0, 0.5}), floats({2}, {1, 0.87758256F}));
  EXPECT_EQ(f("erf(%x)", {0, 0.5, -9}), floats({3}, {0, 0.52049988F, -1}));
  EXPECT_EQ(f("pow(%x) {exponent=3}", {2, -2, 0}), floats({3}, {8, -8, 0}));
  EXPECT_EQ(f("pow(%x) {exponent=-0.5}", {4, 0.25}), floats({2}, {0.5, 2}));
  for (const char* undefined : {"sqrt(%x)", "log(%x)", "rsqrt(%x)", "pow(%x) {exponent=0.5}"}) {
    EXPECT_TRUE(std::isnan(elements(f(undefined, {-1}))[0])) << undefined;
  }
}

TEST(Functions, QuotientAndPrelu) {
  EXPECT_EQ(run({{"a", floats({2, 2}, {1, 2, 3, -4})}, {"b", floats({2}, {2, 0})}}, "div(%a, %b)"),
            floats({2, 2}, {0.5, kInf, 1.5, -kInf}));
  EXPECT_EQ(run({{"x", floats({2, 2}, {1, -2, -3, 4})}, {"w", floats({2, 1}, {0.5, -1})}},
                "prelu(%x, %w)"),
            floats({2, 2}, {1, -1, 3, 4}));
}

TEST(Choices, Extremes) {
  const auto a = floats({3}, {1, kNan, kInf});
  const auto b = floats({1}, {2});
  const auto high = elements(run({{"a", a}, {"b", b}}, "maximum(%a, %b)"));
  const auto low = elements(run({{"a", b}, {"b", a}}, "minimum(%a, %b)"));
  EXPECT_EQ(high[0], 2);
  EXPECT_EQ(low[0], 1);
  EXPECT_TRUE(std::isnan(high[1]) && std::isnan(low[1]));
  EXPECT_EQ(low[2], 2);
  const auto x = codes({2, 1}, {-128, 127});
  const auto y = codes({2}, {0, 127});
  EXPECT_EQ(run({{"a", x}, {"b", y}}, "maximum(%a, %b)"), codes({2, 2}, {0, 127, 127, 127}));
  EXPECT_EQ(run({{"a", x}, {"b", y}}, "minimum(%a, %b)"), codes({2, 2}, {-128, -128, 0, 127}));
}

TEST(Choices, Comparisons) {
  const auto a = codes({3}, {-1, 0, 1});
  const auto b = codes({}, {0});
  const std::vector<std::vector<uint8_t>> wanted = {{0, 1, 0}, {1, 0, 1}, {1, 0, 0},
                                                    {1, 1, 0}, {0, 0, 1}, {0, 1, 1}};
  for (size_t relation = 0; relation < wanted.size(); ++relation) {
    EXPECT_EQ(run({{"a", a}, {"b", b}}, fmt::format("compare(%a, %b) {{relation={}}}", relation)),
              truths({3}, wanted[relation]));
  }
  const auto nan = floats({1}, {kNan});
  for (const int64_t relation : {0, 2, 3, 4, 5}) {
    EXPECT_EQ(
        run({{"a", nan}, {"b", nan}}, fmt::format("compare(%a, %b) {{relation={}}}", relation)),
        truths({1}, {0}));
  }
  EXPECT_EQ(run({{"a", nan}, {"b", nan}}, "compare(%a, %b) {relation=1}"), truths({1}, {1}));
}

TEST(Choices, LogicalOperatorsTreatNonzeroAsTrue) {
  const auto a = truths({4}, {0, 0, 1, 7});
  const auto b = truths({4}, {0, 1, 0, 2});
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "logical_and(%a, %b)"), truths({4}, {0, 0, 0, 1}));
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "logical_or(%a, %b)"), truths({4}, {0, 1, 1, 1}));
  EXPECT_EQ(run({{"x", a}}, "logical_not(%x)"), truths({4}, {1, 1, 0, 0}));
}

TEST(Choices, Where) {
  EXPECT_EQ(run({{"c", truths({2, 1}, {1, 0})},
                 {"a", floats({3}, {1, 2, 3})},
                 {"b", floats({}, {-kInf})}},
                "where(%c, %a, %b)"),
            floats({2, 3}, {1, 2, 3, -kInf, -kInf, -kInf}));
}

TEST(Quotients, RoundHalfAwayFromZeroAndSaturateDivisionByZero) {
  // Real multiplier 2^-20 * 2 (mult 2^30 is one half): the result is twice the quotient.
  const std::string attrs =
      "{a_zp=1, b_zp=-2, y_zp=3, mult=1073741824, shift=-18, min=-100, max=90}";
  // (a - 1) / (b + 2): 3/4, -3/4, 5/4, 8/2, 1/0, -1/0, 0/0.
  EXPECT_EQ(
      run({{"a", codes({7}, {4, -2, 6, 9, 2, 0, 1})}, {"b", codes({7}, {2, 2, 2, 0, -2, -2, -2})}},
          "qdiv(%a, %b) " + attrs),
      codes({7}, {5, 1, 6, 11, 90, -100, 3}));
  // The quotient is rounded first: 2^20 / 3 to nearest, then 2^3 of them make 2796203 - 1 / 2^20.
  EXPECT_EQ(run({{"a", codes({2}, {1, -1})}, {"b", codes({1}, {3})}},
                "qdiv(%a, %b) {a_zp=0, b_zp=0, y_zp=0, mult=1073741824, shift=-12}"),
            codes({2}, {43, -43}));  // 349525 / 2^13 = 42.67
}

TEST(Quotients, Prelu) {
  // Slope 1 above the zero point; below it, (x + 4) * (w - 1) / 4.
  EXPECT_EQ(run({{"x", codes({2, 3}, {-4, 10, -14, -4, 20, -14})}, {"w", codes({2, 1}, {3, -1})}},
                "qprelu(%x, %w) {x_zp=-4, w_zp=1, y_zp=2, mult=1073741824, shift=1, "
                "w_mult=1073741824, w_shift=-1, min=-128, max=20}"),
            codes({2, 3}, {2, 16, -3, 2, 20, 7}));
}

}  // namespace
}  // namespace thimble
