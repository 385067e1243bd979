// SPDX-License-Identifier: Apache-2.0
// Memory and time of the import of programs whose sizes agree with each other, so that every node
// is computed. A program has no weights: its limits are those of an empty archive.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fuzz/bounds.h"
#include "tests/fuzz/heap_peak.h"
#include "tests/fuzz/repeat_command.h"
#include "tests/unit/import_program.h"

namespace thimble::fuzz {
namespace {

using namespace import_pt2::testing;

constexpr auto kI64 = pt2::ScalarType::kInt64;
using Arguments = std::vector<std::pair<std::string, pt2::Argument>>;
using Sizes = std::vector<pt2::SymInt>;

struct Operator {
  std::string target;
  Arguments arguments;
  Sizes result;
};

/// Operators of `a`, a tensor of `n` integers.
std::vector<Operator> operators_of(int64_t n) {
  const pt2::Argument a = ref("a");
  return {
      {"aten.add.Tensor", {{"self", a}, {"other", a}}, {size(n)}},
      {"aten.cumsum.default", {{"self", a}, {"dim", whole(0)}}, {size(n)}},
      {"aten.diff.default", {{"self", a}, {"prepend", a}, {"append", a}}, {size(3 * n - 1)}},
      {"aten.embedding.default", {{"weight", a}, {"indices", a}}, {size(n)}},
      {"aten.expand.default", {{"self", a}, {"size", ints({16, n})}}, {size(16), size(n)}},
      {"aten.gather.default", {{"self", a}, {"dim", whole(0)}, {"index", a}}, {size(n)}},
      {"aten.index.Tensor",
       {{"self", a}, {"indices", std::vector<std::optional<pt2::TensorName>>{{{"a"}}}}},
       {size(n)}},
      {"aten.masked_fill.Scalar", {{"self", a}, {"mask", a}, {"value", whole(1)}}, {size(n)}},
      {"aten.repeat_interleave.self_int", {{"self", a}, {"repeats", whole(2)}}, {size(2 * n)}},
      {"aten.roll.default", {{"self", a}, {"shifts", ints({1})}, {"dims", ints({0})}}, {size(n)}},
      {"aten.unfold.default",
       {{"self", a}, {"dimension", whole(0)}, {"size", whole(4)}, {"step", whole(1)}},
       {size(n - 3), size(4)}},
      {"aten.where.self", {{"condition", a}, {"self", a}, {"other", a}}, {size(n)}},
  };
}

Program numbers(int64_t n) {
  Program program;
  program.input("x", {size(1)})
      .node("aten.arange.default", {{"end", whole(n)}}, "a", {size(n)}, kI64)
      .output("x");
  return program;
}

TEST(ImportBounds, OneOperator) {
  for (int64_t n = 1024; n <= int64_t{1} << 24; n *= 2) {
    for (Operator& each : operators_of(n)) {
      const testing::HeapPeak peak;
      const double start = seconds_used();
      Program program = numbers(n);
      program.node(each.target, std::move(each.arguments), "y", std::move(each.result), kI64);
      const std::string error = program.error();
      EXPECT_LE(peak.bytes(), kBytesMax) << each.target << " of " << n << ": " << error;
      EXPECT_LE(seconds_used() - start, kSecondsMax) << each.target << " of " << n << ": " << error;
      if (n == 1024) {
        EXPECT_EQ(error, "imported") << each.target;
      }
    }
  }
}

/// Returns the error of `count` sums of 100,000 integers.
std::string error_of_sums(int count) {
  Program program = numbers(100'000);
  for (int i = 0; i < count; ++i) {
    program.node("aten.sum.default", {{"self", ref("a")}}, "sum_" + std::to_string(i), {}, kI64);
  }
  return program.error();
}

TEST(ImportBounds, ComputedNumbersHaveALimit) {
  EXPECT_EQ(error_of_sums(100), "imported");
  const double start = seconds_used();
  EXPECT_NE(error_of_sums(2000).find("numbers that are computed at import"), std::string::npos);
  EXPECT_LE(seconds_used() - start, kSecondsMax);
}

/// Imports `count` functions of a position. The import computes a table of each, with an entry for
/// each row.
std::string error_of_positions(int64_t rows, int count) {
  Program program;
  program.input("x", {size(rows), size(2)})
      .input("position_0", {size(1)}, kI64)
      .node("aten.embedding.default", {{"weight", ref("x")}, {"indices", ref("position_0")}}, "row",
            {size(1), size(2)});
  for (int i = 0; i < count; ++i) {
    program.node(
        "aten.mul.Tensor",
        {{"self", import_pt2::testing::ref("position_" + std::to_string(i))}, {"other", whole(2)}},
        "position_" + std::to_string(i + 1), {size(1)}, kI64);
  }
  return program.output("row").error();
}

TEST(ImportBounds, TablesOfPositions) {
  EXPECT_EQ(error_of_positions(1024, 4), "imported");
  for (const int64_t rows : {int64_t{1} << 14, int64_t{1} << 20}) {
    const testing::HeapPeak peak;
    const double start = seconds_used();
    const std::string error = error_of_positions(rows, 100);
    EXPECT_LE(peak.bytes(), kBytesMax) << rows << ": " << error;
    EXPECT_LE(seconds_used() - start, kSecondsMax) << rows << ": " << error;
  }
}

}  // namespace
}  // namespace thimble::fuzz
