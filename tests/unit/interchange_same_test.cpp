// The test whether two multipliers give the same quantized values, compared with trying every sum.

#include <gtest/gtest.h>

#include <algorithm>

#include "interchange/same.h"

namespace thimble::interchange {
namespace {

bool same_everywhere(const Step& a, const Step& b, int32_t low, int32_t high) {
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
    const Step a = to_code(ours, bounds), b = to_code(theirs, bounds, single);
    const auto low = static_cast<int32_t>(next(-3000, 0)),
               high = static_cast<int32_t>(next(1, 3000));
    const bool same = same_steps(a, b, low, high);
    ASSERT_EQ(same, same_everywhere(a, b, low, high)) << i;
    ++(same ? equal : different);
  }
  EXPECT_GT(equal, 20);
  EXPECT_GT(different, 20);
}

TEST(InterchangeSame, SeesWhereRoundingTwiceDiffers) {
  const numerics::Multiplier quarter{1 << 30, -1};
  const Bounds bounds{};
  const Step twice = to_code(quarter, bounds), once = to_code(quarter, bounds, true);
  EXPECT_EQ(twice(1), 1);  // 1/4 is first rounded to 1/2, then to 1
  EXPECT_EQ(once(1), 0);
  EXPECT_EQ(twice(-2), -1);  // rounds halves away from zero
  EXPECT_EQ(once(-2), 0);    // rounds halves up
  EXPECT_TRUE(same_steps(twice, twice, -500, 500));
  EXPECT_FALSE(same_steps(twice, once, 0, 500));
  EXPECT_FALSE(same_steps(twice, once, -2, 0));
  EXPECT_TRUE(same_steps(twice, once, 2, 4));
}

}  // namespace
}  // namespace thimble::interchange
