// SPDX-License-Identifier: Apache-2.0
// Recognition of the function in a lookup table, over scales by seed. Independent formulas make the
// tables, in double and in float32, and check the recognized function.

#include "interchange/table_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "function_tables.h"

namespace thimble::interchange {
namespace {

using Kind = Function::Kind;
using test::Codes;
using test::Entries;
using test::float_scale;
using test::Formula;
using test::formula_of;
using test::table_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<Function> found_in(const Codes& codes, const Entries& entries) {
  const ir::Graph graph = test::graph_of_table(codes, entries);
  return recognize_table_function(graph, graph.ops().back());
}

/// Counts entries for which the found function gives another value. Near-ties are not counted.
int count_wrong_entries(const Codes& codes, const Entries& entries, const Function& found) {
  const Formula f = formula_of(found);
  const Entries in_double = table_of(codes, f, false), in_single = table_of(codes, f, true);
  int wrong = 0;
  for (size_t i = 0; i < 256; ++i) {
    const int code = static_cast<int>(i) - 128;
    const double exact = f(codes.x.scale[0] * (code - codes.x.zero_point[0])) / codes.y.scale[0] +
                         codes.y.zero_point[0];
    const bool by_a_hair = std::abs(std::abs(exact - std::floor(exact)) - 0.5) < 1e-4;
    if (by_a_hair && std::abs(exact - entries[i]) < 0.501) continue;
    wrong += entries[i] != in_double[i] && entries[i] != in_single[i] ? 1 : 0;
  }
  return wrong;
}

Codes random_codes(test::Random& random) {
  const auto zero = [&] { return static_cast<int32_t>(random.between(-128, 127)); };
  Codes codes{ir::per_tensor(float_scale(random, 1e-3, 0.2), zero()),
              ir::per_tensor(float_scale(random, 1e-3, 0.2), zero())};
  if (random.chance(30)) codes.y.scale = codes.x.scale;
  if (random.chance(30)) codes.y.zero_point = codes.x.zero_point;
  return codes;
}

Function random_function(test::Random& random) {
  Function f;
  f.kind = static_cast<Kind>(random.between(0, static_cast<int>(Kind::kTanh)));
  if (f.kind == Kind::kLeakyRelu) f.alpha = static_cast<double>(random.between(1, 99)) / 100;
  if (f.kind == Kind::kClamp) {
    f.min = random.chance(50) ? 0 : random.chance(20) ? -kInfinity : random.real(-4, 1);
    f.max = random.chance(30) ? 6 : random.chance(40) ? kInfinity : f.min + random.real(0, 5);
    if (f.max <= f.min) f.max = kInfinity;
  }
  return f;
}

/// Position of a kind in the order of preference, simplest first.
int rank(Kind kind) {
  const Kind order[] = {Kind::kRescale,   Kind::kClamp,     Kind::kNeg,      Kind::kAbs,
                        Kind::kLeakyRelu, Kind::kHardSwish, Kind::kLogistic, Kind::kTanh,
                        Kind::kExp,       Kind::kLog,       Kind::kRsqrt};
  return static_cast<int>(std::ranges::find(order, kind) - std::begin(order));
}

TEST(FunctionOfTable, EveryFunctionIsFoundOverScales) {
  int found_exactly[16] = {};
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    test::Random random(seed);
    const Codes codes = random_codes(random);
    const Function meant = random_function(random);
    const Entries entries = table_of(codes, formula_of(meant), random.chance(50));
    const auto found = found_in(codes, entries);
    ASSERT_TRUE(found.has_value()) << "seed " << seed << " kind " << static_cast<int>(meant.kind);
    // A rescale whose lower bound is 0 is also a relu.
    ASSERT_LE(rank(found->kind), std::max(rank(meant.kind), rank(Kind::kClamp))) << "seed " << seed;
    ASSERT_EQ(count_wrong_entries(codes, entries, *found), 0) << "seed " << seed;
    found_exactly[static_cast<size_t>(meant.kind)] += found->kind == meant.kind ? 1 : 0;
  }
  for (int kind = 0; kind <= static_cast<int>(Kind::kTanh); ++kind) {
    // About 1,820 per kind are meant. Where a table saturates, a simpler function also fits.
    EXPECT_GE(found_exactly[kind], 1350) << "kind " << kind;
  }
}

/// After a change of one entry, the result is another function or none.
TEST(FunctionOfTable, DetectsOneChangedEntry) {
  int none = 0;
  constexpr int kTables = 5000;
  for (uint64_t seed = 1; seed <= kTables; ++seed) {
    test::Random random(seed);
    const Codes codes = random_codes(random);
    Entries entries = table_of(codes, formula_of(random_function(random)), false);
    int8_t& entry = entries[static_cast<size_t>(random.between(0, 255))];
    entry = static_cast<int8_t>(entry == 127 ? 126 : entry + 1);
    const auto found = found_in(codes, entries);
    none += found ? 0 : 1;
    if (found) {
      ASSERT_EQ(count_wrong_entries(codes, entries, *found), 0) << "seed " << seed;
    }
  }
  EXPECT_GT(none, kTables / 2);
}

TEST(FunctionOfTable, ReturnsNothingForOtherFunctions) {
  const Formula others[] = {
      [](double x) { return x / (1 + std::exp(-x)); },
      [](double x) { return std::sin(x); },
      [](double x) { return x * x; },
      [](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); },
      [](double x) { return std::sqrt(x); },
      [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); },
      [](double x) { return x < -0.5 ? 0.5 * x : x; },
  };
  const Codes codes{ir::per_tensor(8.0 / 256, -3), ir::per_tensor(6.0 / 256, -100)};
  for (const Formula& f : others) {
    const auto found = found_in(codes, table_of(codes, f, false));
    EXPECT_FALSE(found.has_value()) << (found ? static_cast<int>(found->kind) : 0);
  }
}

TEST(FunctionOfTable, FindsBoundsAndSlopes) {
  const Codes codes{ir::per_tensor(16.0 / 256, 0), ir::per_tensor(8.0 / 256, -90)};
  const auto clamped = [&](double low, double high) {
    const Formula f = [=](double x) { return std::clamp(x, low, high); };
    return *found_in(codes, table_of(codes, f, false));
  };
  for (const auto& [low, high] : {std::pair(0.0, 6.0), {0.0, 1.0}, {-1.0, 1.0}, {0.0, kInfinity}}) {
    const Function f = clamped(low, high);
    EXPECT_EQ(f.kind, Kind::kClamp);
    EXPECT_EQ(f.min, low);
    EXPECT_EQ(f.max, high);
  }
  const Function odd = clamped(-0.75, 2.0);
  EXPECT_EQ(odd.min, -0.75);
  EXPECT_EQ(odd.max, 2.0);
  for (const double alpha : {0.01, 0.1, 0.2, 0.3, 1.5, -0.5}) {
    const Formula leaky = [=](double x) { return x < 0 ? alpha * x : x; };
    const auto f = found_in(codes, table_of(codes, leaky, false));
    ASSERT_TRUE(f.has_value());
    EXPECT_EQ(f->kind, Kind::kLeakyRelu);
    EXPECT_NEAR(f->alpha, alpha, 0.01);
  }
}

/// Saturation is a bound only where it equals the function's bound exactly.
TEST(FunctionOfTable, SaturationIsNotABound) {
  const Formula same = [](double x) { return x; };
  const Codes from_zero{ir::per_tensor(8.0 / 256, 0), ir::per_tensor(4.0 / 256, -128)};
  const Function relu = *found_in(from_zero, table_of(from_zero, same, false));
  EXPECT_EQ(relu.kind, Kind::kClamp);
  EXPECT_EQ(relu.min, 0);
  EXPECT_EQ(relu.max, kInfinity);
  const Codes cut{ir::per_tensor(8.0 / 256, 0), ir::per_tensor(3.0 / 256, -20)};
  EXPECT_EQ(found_in(cut, table_of(cut, same, false))->kind, Kind::kRescale);
}

TEST(FunctionOfTable, ReturnsNothingWithoutScales) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", {ir::DType::kI8, {4}, {}, {}});
  ir::Tensor table = ir::zeros(ir::DType::kI8, {256});
  const ir::ValueId list = graph.add_constant("t", std::make_shared<ir::Tensor>(std::move(table)));
  ASSERT_TRUE(graph.add(ir::OpKind::lut, {x, list}, {}, {}, {"y", {}, {}}).ok());
  EXPECT_FALSE(recognize_table_function(graph, graph.ops().back()).has_value());
}

}  // namespace
}  // namespace thimble::interchange
