// SPDX-License-Identifier: Apache-2.0
// Comparisons of ATen with a tensor and with a number: every pair of a few values.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

struct Comparison {
  PteOp with_tensor, with_number;
  bool (*holds)(double, double);
};
const Comparison kComparisons[] = {
    {PteOp::aten_eq_tensor, PteOp::aten_eq_scalar, [](double a, double b) { return a == b; }},
    {PteOp::aten_ne_tensor, PteOp::aten_ne_scalar, [](double a, double b) { return a != b; }},
    {PteOp::aten_lt_tensor, PteOp::aten_lt_scalar, [](double a, double b) { return a < b; }},
    {PteOp::aten_le_tensor, PteOp::aten_le_scalar, [](double a, double b) { return a <= b; }},
    {PteOp::aten_gt_tensor, PteOp::aten_gt_scalar, [](double a, double b) { return a > b; }},
    {PteOp::aten_ge_tensor, PteOp::aten_ge_scalar, [](double a, double b) { return a >= b; }},
};

template <class T>
void expect_all_pairs(DType dtype, const std::vector<T>& values) {
  const auto n = static_cast<int32_t>(values.size());
  const auto filled = [&](const Sizes& sizes, auto value_of) {
    Value value = make(dtype, sizes);
    for (int32_t i = 0; i < value.count(); ++i) value.as<T>()[i] = value_of(i);
    return value;
  };
  const auto left = [&](int32_t i) { return values[static_cast<size_t>(i / n)]; };
  const auto right = [&](int32_t i) { return values[static_cast<size_t>(i % n)]; };
  for (const Comparison& comparison : kComparisons) {
    Invocation pairs(comparison.with_tensor);
    pairs.add(filled({n, n}, left)).add(filled({n, n}, right)).add(make(DType::kBool, {n, n}));
    ASSERT_NO_FATAL_FAILURE(pairs.run());
    for (int32_t i = 0; i < n * n; ++i) {
      const bool expected =
          comparison.holds(static_cast<double>(left(i)), static_cast<double>(right(i)));
      EXPECT_EQ(pairs.out().as<uint8_t>()[i] != 0, expected) << pairs.kernel->name << " pair " << i;
    }
    pairs.record_equal();
    for (const T number : values) {
      if (!std::isfinite(static_cast<double>(number))) continue;  // no number of a program
      Invocation call(comparison.with_number);
      call.add(filled({n}, right)).add(static_cast<double>(number)).add(make(DType::kBool, {n}));
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (int32_t i = 0; i < n; ++i) {
        const bool expected =
            comparison.holds(static_cast<double>(right(i)), static_cast<double>(number));
        EXPECT_EQ(call.out().as<uint8_t>()[i] != 0, expected) << call.kernel->name << " " << i;
      }
      call.record_equal();
    }
  }
}

TEST(AtenCompare, EveryPairOfIntegers) {
  expect_all_pairs<int8_t>(DType::kI8, {-128, -1, 0, 1, 127});
}

TEST(AtenCompare, EveryPairOfFloats) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  expect_all_pairs<float>(DType::kF32, {-kInfinity, -1.5F, 0, 1.5F, kInfinity,
                                        std::numeric_limits<float>::quiet_NaN()});
}

}  // namespace
}  // namespace thimble::kernels::test
