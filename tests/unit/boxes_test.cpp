// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression: thimble_best_boxes against a sort of all boxes, on random boxes.

#include "runtime/include/thimble_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace thimble {
namespace {

struct Data {
  std::vector<float> boxes, scores;
  int32_t count = 0, labels = 0;

  [[nodiscard]] thimble_detections detections(float min_score, float max_overlap) const {
    return {boxes.data(), scores.data(), count, labels, min_score, max_overlap};
  }
};

/// Positions and scores on a coarse grid, so that equal scores and equal boxes occur.
Data random_data(std::mt19937& random, int32_t count, int32_t labels) {
  const auto between = [&](int low, int high) {
    return static_cast<float>(std::uniform_int_distribution<int>(low, high)(random));
  };
  Data data{{}, {}, count, labels};
  for (int32_t i = 0; i < 2 * count; ++i) data.boxes.push_back(between(0, 20));
  for (int32_t i = 0; i < 2 * count; ++i) data.boxes.push_back(between(0, 12));
  for (int32_t i = 0; i < labels * count; ++i) data.scores.push_back(between(0, 16) / 16);
  return data;
}

std::vector<thimble_box> sorted_and_suppressed(const thimble_detections& d, size_t capacity) {
  std::vector<thimble_box> all;
  for (int32_t i = 0; i < d.count; ++i) all.push_back(thimble_box_at(&d, i));
  std::stable_sort(all.begin(), all.end(),
                   [](const thimble_box& a, const thimble_box& b) { return a.score > b.score; });
  std::vector<thimble_box> kept;
  for (const thimble_box& box : all) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const thimble_box& better) {
      return better.label == box.label && thimble_box_overlap(&better, &box) > d.max_overlap;
    });
    if (box.score >= d.min_score && !covered && kept.size() < capacity) kept.push_back(box);
  }
  return kept;
}

TEST(Boxes, EqualASortOfAllBoxes) {
  size_t several = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const Data data = random_data(random, static_cast<int32_t>(1 + seed % 40), 1 + seed % 4);
    const thimble_detections d = data.detections(0.25F, 0.25F * static_cast<float>(seed % 4));
    for (const int32_t capacity : {0, 1, 3, 100}) {
      const auto expected = sorted_and_suppressed(d, static_cast<size_t>(capacity));
      std::vector<thimble_box> kept(100);
      const int32_t number = thimble_best_boxes(&d, kept.data(), capacity);
      ASSERT_EQ(static_cast<size_t>(number), expected.size()) << "seed " << seed;
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(kept[i].label, expected[i].label) << "seed " << seed;
        EXPECT_EQ(kept[i].score, expected[i].score) << "seed " << seed;
        EXPECT_EQ(kept[i].x, expected[i].x) << "seed " << seed;
        EXPECT_EQ(kept[i].y, expected[i].y) << "seed " << seed;
        EXPECT_EQ(kept[i].width, expected[i].width) << "seed " << seed;
        EXPECT_EQ(kept[i].height, expected[i].height) << "seed " << seed;
      }
      several += expected.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(several, 100U);
}

TEST(Boxes, OverlapIsIntersectionOverUnion) {
  const thimble_box a = {5, 5, 10, 10, 1, 0}, b = {10, 5, 10, 10, 1, 0},
                    far = {50, 5, 10, 10, 1, 0};
  const thimble_box empty = {5, 5, 0, 0, 1, 0};
  EXPECT_FLOAT_EQ(thimble_box_overlap(&a, &b), 50.0F / 150.0F);
  EXPECT_EQ(thimble_box_overlap(&a, &a), 1);
  EXPECT_EQ(thimble_box_overlap(&a, &far), 0);
  EXPECT_EQ(thimble_box_overlap(&empty, &empty), 0);
}

TEST(Boxes, ScoresThatAreNoNumbersAreNoCandidates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Data data{{1, 1, 1, 1, 2, 2, 2, 2}, {nan, 0.5F}, 2, 1};
  const thimble_detections d = data.detections(0.1F, 0.5F);
  thimble_box kept[2];
  ASSERT_EQ(thimble_best_boxes(&d, kept, 2), 1);
  EXPECT_EQ(kept[0].score, 0.5F);
}

}  // namespace
}  // namespace thimble
