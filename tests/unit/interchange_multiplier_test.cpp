// SPDX-License-Identifier: Apache-2.0
// The test whether two multipliers give the same quantized values, compared with trying every sum.

#include <gtest/gtest.h>

#include <algorithm>

#include "interchange/requantize_equal.h"

namespace thimble::interchange {
namespace {

bool same_everywhere(const RequantizeFn& a, const RequantizeFn& b, int32_t low, int32_t high) {
  for (int32_t sum = low; sum <= high; ++sum) {
    if (a(sum) != b(sum)) return false;
  }
  return true;
}

TEST(InterchangeSame, AgreesWithTryingEverySum) {
  uint64_t state = 12345;
  const auto next = [&](int64_t low, int64_t high) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return low + static_cast<int64_t>((state >> 20) % static_cast<uint64_t>(high - low + 1));
  };
  int equal = 0, different = 0;
  for (int i = 0; i < 400; ++i) {
    const numerics::Multiplier ours{static_cast<int32_t>(next(1 << 30, INT32_MAX)),
                                    static_cast<int32_t>(next(-12, -2))};
    numerics::Multiplier theirs = ours;
    theirs.mult = static_cast<int32_t>(
        std::clamp<int64_t>(theirs.mult + next(-1, 1) * next(0, 300000), 1 << 30, INT32_MAX));
    const Bounds bounds{static_cast<int32_t>(next(-128, 127)), -128, 127};
    const bool single = next(0, 3) == 0;
    const RequantizeFn a = make_requantize_fn(ours, bounds),
                       b = make_requantize_fn(theirs, bounds, single);
    const auto low = static_cast<int32_t>(next(-3000, 0)),
               high = static_cast<int32_t>(next(1, 3000));
    const bool same = same_requantization(a, b, low, high);
    ASSERT_EQ(same, same_everywhere(a, b, low, high)) << i;
    ++(same ? equal : different);
  }
  EXPECT_GT(equal, 20);
  EXPECT_GT(different, 20);
}

TEST(InterchangeSame, DetectsDifferenceOfDoubleRounding) {
  const numerics::Multiplier quarter{1 << 30, -1};
  const Bounds bounds{};
  const RequantizeFn twice = make_requantize_fn(quarter, bounds),
                     once = make_requantize_fn(quarter, bounds, true);
  EXPECT_EQ(twice(1), 1);  // 1/4 is first rounded to 1/2, then to 1
  EXPECT_EQ(once(1), 0);
  EXPECT_EQ(twice(-2), -1);  // rounds halves away from zero
  EXPECT_EQ(once(-2), 0);    // rounds halves up
  EXPECT_TRUE(same_requantization(twice, twice, -500, 500));
  EXPECT_FALSE(same_requantization(twice, once, 0, 500));
  EXPECT_FALSE(same_requantization(twice, once, -2, 0));
  EXPECT_TRUE(same_requantization(twice, once, 2, 4));
}

}  // namespace
}  // namespace thimble::interchange
