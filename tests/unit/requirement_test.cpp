// Requirements of `thimble fit --require`: units, relations, and messages for invalid ones.

#include "driver/requirement.h"

#include <gtest/gtest.h>

#include <array>

namespace thimble::driver {
namespace {

Requirement parse_one(std::string_view text) {
  const auto parsed = parse_requirements(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message);
  if (!parsed.ok() || parsed->size() != 1) return {};
  return (*parsed)[0];
}

TEST(Requirement, ConvertsUnits) {
  struct Case {
    std::string_view text;
    std::optional<double> Figures::*figure;
    double bound;
  };
  for (const Case& each : {Case{"latency<20ms", &Figures::latency_us, 20000},
                           {"latency<250us", &Figures::latency_us, 250},
                           {"latency<1.5s", &Figures::latency_us, 1500000},
                           {"sram<128K", &Figures::sram_bytes, 131072},
                           {"sram<1.5M", &Figures::sram_bytes, 1572864},
                           {"sram<1000", &Figures::sram_bytes, 1000},
                           {"flash<1000B", &Figures::flash_bytes, 1000},
                           {"flash<=2M", &Figures::flash_bytes, 2097152},
                           {"accuracy>0.9", &Figures::accuracy, 0.9},
                           {"accuracy>=90%", &Figures::accuracy, 0.9},
                           {"sqnr>20", &Figures::sqnr_db, 20},
                           {"sqnr>20dB", &Figures::sqnr_db, 20}}) {
    const Requirement requirement = parse_one(each.text);
    EXPECT_EQ(requirement.text, each.text);
    EXPECT_TRUE(requirement.figure == each.figure) << each.text;
    EXPECT_DOUBLE_EQ(requirement.bound, each.bound) << each.text;
    EXPECT_EQ(requirement.is_maximum, each.text.find('<') != std::string_view::npos);
    EXPECT_EQ(requirement.or_equal, each.text.find('=') != std::string_view::npos);
  }
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
                "--require lateny<20ms: lateny is not known; similar names: latency; one of "
                "accuracy, flash, latency, sqnr, sram was expected"},
      std::pair{"sram<64K,ram<1",
                "--require ram<1: ram is not known; similar names: sram; one of accuracy, flash, "
                "latency, sqnr, sram was expected"},
      std::pair{"<5",
                "--require <5: the name is not known; one of accuracy, flash, latency, sqnr, sram "
                "was expected"},
      std::pair{"latency", "--require latency: < or <= expected, as in latency<20ms"},
      std::pair{"latency>20ms", "--require latency>20ms: < or <= expected, as in latency<20ms"},
      std::pair{"accuracy<0.9",
                "--require accuracy<0.9: > or >= expected, as in accuracy>0.9 or accuracy>90%"},
      std::pair{"latency<20",
                "--require latency<20: a number expected, which ends in us, ms, s, as in "
                "latency<20ms"},
      std::pair{"sram<64KB",
                "--require sram<64KB: a number expected, which may end in K, M, B, as in sram<64K"},
      std::pair{"sram<-1",
                "--require sram<-1: a number expected, which may end in K, M, B, as in sram<64K"},
      std::pair{"accuracy>nan",
                "--require accuracy>nan: a number expected, which may end in %, as in "
                "accuracy>0.9 or accuracy>90%"},
      std::pair{"sram<64K,",
                "--require sram<64K,: found a comma without a requirement next to it, expected one "
                "such as accuracy>0.9 or accuracy>90%"},
      std::pair{"sram<64K, ,latency<1ms",
                "--require sram<64K, ,latency<1ms: found a comma without a requirement next to it, "
                "expected one such as accuracy>0.9 or accuracy>90%"},
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
