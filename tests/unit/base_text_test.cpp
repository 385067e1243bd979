// SPDX-License-Identifier: Apache-2.0
// Sizes and patterns as users write them.

#include <gtest/gtest.h>

#include "base/glob.h"
#include "base/size_text.h"

namespace thimble {
namespace {

TEST(SizeText, ParsesNumbersAndSuffixes) {
  EXPECT_EQ(parse_size("64"), 64);
  EXPECT_EQ(parse_size("64K"), 65536);
  EXPECT_EQ(parse_size("64k"), 65536);
  EXPECT_EQ(parse_size("2M"), 2097152);
  EXPECT_EQ(parse_size("9007199254740991K"), 9007199254740991 * 1024);
}

TEST(SizeText, RefusesOtherTexts) {
  for (const char* text : {"", "K", "0", "0K", "-1", "1.5K", "1KB", "1 K", " 1", "1G", "0x10",
                           "9223372036854775807K", "9223372036854775808"}) {
    EXPECT_FALSE(parse_size(text).has_value()) << text;
  }
}

TEST(Glob, MatchesWholeNames) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*c", "abbc"));
  EXPECT_TRUE(glob_matches("*b*b*", "abcb"));
  EXPECT_TRUE(glob_matches("a**", "a"));
  EXPECT_FALSE(glob_matches("a", "ab"));
  EXPECT_FALSE(glob_matches("a*c", "abcd"));
  EXPECT_FALSE(glob_matches("*bb", "abab"));
  EXPECT_FALSE(glob_matches("", "a"));
}

}  // namespace
}  // namespace thimble
