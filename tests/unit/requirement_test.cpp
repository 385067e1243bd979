// SPDX-License-Identifier: Apache-2.0
// Requirements of `thimble fit --require`: units, relations, and messages for invalid ones.

#include "driver/requirement.h"

#include <gtest/gtest.h>

#include <array>

namespace thimble::driver {
namespace {

Condition parse_one(std::string_view text) {
  const auto parsed = parse_requirements(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message);
  if (!parsed.ok() || parsed->size() != 1) return {};
  return (*parsed)[0];
}

TEST(Requirement, ConvertsUnits) {
  struct Case {
    std::string_view text, name;
    double bound;
  };
  for (const Case& each :
       {Case{"latency<20ms", "latency", 20000}, Case{"latency<250us", "latency", 250},
        Case{"latency<1.5s", "latency", 1500000}, Case{"sram<128K", "sram", 131072},
        Case{"sram<1.5M", "sram", 1572864}, Case{"sram<1000", "sram", 1000},
        Case{"sram<64KB", "sram", 65536}, Case{"flash<1000B", "flash", 1000},
        Case{"flash<=2M", "flash", 2097152}, Case{"accuracy>0.9", "accuracy", 0.9},
        Case{"accuracy>=90%", "accuracy", 0.9}, Case{"sqnr>20", "sqnr", 20},
        Case{"sqnr>20dB", "sqnr", 20}}) {
    const Condition requirement = parse_one(each.text);
    EXPECT_EQ(requirement.text, each.text);
    EXPECT_EQ(requirement.name, each.name);
    EXPECT_DOUBLE_EQ(requirement.value, each.bound) << each.text;
  }
  EXPECT_EQ(parse_one("flash<=2M").relation, Relation::kLessEqual);
  EXPECT_EQ(parse_one("flash<2M").relation, Relation::kLess);
  EXPECT_EQ(parse_one("sqnr>=2").relation, Relation::kGreaterEqual);
  EXPECT_EQ(parse_one("sqnr>2").relation, Relation::kGreater);
}

TEST(Requirement, ReadsAList) {
  const auto parsed = parse_requirements("latency<20ms,sram<64K,accuracy>0.9");
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->size(), 3U);
  EXPECT_EQ((*parsed)[0].text, "latency<20ms");
  EXPECT_EQ((*parsed)[2].text, "accuracy>0.9");
  EXPECT_TRUE(parse_requirements("")->empty());
  EXPECT_EQ(parse_requirements(" latency<20ms , sram<64K ")->size(), 2U);
}

TEST(Requirement, MessagesNameWhatIsExpected) {
  constexpr std::array kCases = {
      std::pair{"lateny<20ms",
                "--require lateny<20ms: lateny: not known; similar names: latency; one of "
                "accuracy, flash, latency, sqnr, sram expected"},
      std::pair{"sram<64K,ram<1",
                "--require ram<1: ram: not known; similar names: sram; one of accuracy, flash, "
                "latency, sqnr, sram expected"},
      std::pair{"<5",
                "--require <5: found no name, expected one of accuracy, flash, latency, sqnr, "
                "sram"},
      std::pair{"latency",
                "--require latency: a name, one of < <= > >=, and a value expected, such as "
                "sram<64K"},
      std::pair{"latency>20ms", "--require latency>20ms: < or <= expected, as in latency<20ms"},
      std::pair{"accuracy<0.9", "--require accuracy<0.9: > or >= expected, as in accuracy>0.9"},
      std::pair{"latency<20",
                "--require latency<20: found 20, expected a value such as 20ms or 250us"},
      std::pair{"sram<64KiB", "--require sram<64KiB: found 64KiB, expected a value such as 64K"},
      std::pair{"sram<-1",
                "--require sram<-1: a change needs two files: `thimble diff A.pte B.pte`; here a "
                "value is expected"},
      std::pair{"accuracy>nan",
                "--require accuracy>nan: found nan, expected a value such as 0.9 or 90%"},
      std::pair{"sram<64K,",
                "--require sram<64K,: found a comma without a condition next to it, expected one "
                "such as sram<64K"},
      std::pair{"sram<64K, ,latency<1ms",
                "--require sram<64K, ,latency<1ms: found a comma without a condition next to it, "
                "expected one such as sram<64K"},
  };
  for (const auto& [text, message] : kCases) {
    const auto parsed = parse_requirements(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kBadInput);
    EXPECT_EQ(parsed.error().message, message);
  }
}

TEST(Requirement, ComparesFigures) {
  Figures figures;
  EXPECT_EQ(is_met(parse_one("sram<64K"), figures), std::nullopt);
  figures.sram_bytes = 65536;
  EXPECT_EQ(is_met(parse_one("sram<64K"), figures), false);
  EXPECT_EQ(is_met(parse_one("sram<=64K"), figures), true);
  figures.sram_bytes = 65535;
  EXPECT_EQ(is_met(parse_one("sram<64K"), figures), true);
  figures.accuracy = 0.9;
  EXPECT_EQ(is_met(parse_one("accuracy>0.9"), figures), false);
  EXPECT_EQ(is_met(parse_one("accuracy>=0.9"), figures), true);
  EXPECT_EQ(is_met(parse_one("accuracy>89%"), figures), true);
  EXPECT_EQ(is_met(parse_one("latency<1s"), figures), std::nullopt);
}

}  // namespace
}  // namespace thimble::driver
