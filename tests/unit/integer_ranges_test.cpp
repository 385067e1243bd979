// SPDX-License-Identifier: Apache-2.0
#include "driver/integer_ranges.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace thimble::driver {
namespace {

/// The warnings for a graph with an input of two elements, which has these values in the data.
std::vector<std::string> warnings(const std::string& body, int64_t low, int64_t high) {
  const auto graph = ir::parse("graph @forward {\n input %x: i64[2]\n" + body + "}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  if (!graph.ok()) return {};
  ir::Tensor data = ir::zeros(ir::DType::kI64, {1, 2});
  data.data<int64_t>()[0] = low;
  data.data<int64_t>()[1] = high;
  return wide_integer_warnings(*graph, {{{"x", data}}});
}

constexpr const char* kNarrow = "%n: i32[2] = int_cast(%x) {type=4}\n";

std::string product(int factor) {
  return std::string(kNarrow) +
         "%f: i32[2] = int_pair(%n, %n) {function=2} at \"net.py\":7\n"
         "%y: i32[2] = int_pair(%f, %n) {function=" +
         std::to_string(factor) + "}\n output %y\n";
}

TEST(IntegerRanges, ProductsThatFitHaveNoWarning) {
  EXPECT_TRUE(warnings(product(0), -30000, 30000).empty());
}

TEST(IntegerRanges, ProductsThatWrapAreNamed) {
  const auto found = warnings(product(0), -50000, 40000);
  ASSERT_EQ(found.size(), 1u);  // nothing is known of the sum after it
  EXPECT_NE(found[0].find("net.py:7"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("from -2000000000 to 2500000000"), std::string::npos) << found[0];
}

TEST(IntegerRanges, SumsCountTheirElements) {
  const std::string body =
      std::string(kNarrow) + "%y: i32[2] = int_cumsum(%n) {dim=0} at \"net.py\":9\n output %y\n";
  EXPECT_TRUE(warnings(body, 0, (int64_t{1} << 30) - 1).empty());
  EXPECT_EQ(warnings(body, 0, int64_t{1} << 30).size(), 1u);
}

}  // namespace
}  // namespace thimble::driver
