// Parts are files: what they say is read, what they say wrongly is an error that names the entry.

#include "target/part.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace thimble::target {
namespace {

constexpr std::string_view kGood = R"(
summary = "a board"
cpu = "cortex-m55"

[[engine]]
name = "ethos-u55-64"
memory_mode = "Sram_Only"
system = "Ethos_U55_Deep_Embedded"
settings = { clock_mhz = 400, sram = { read_latency = 20 } }

[[memory]]
name = "sram"
bytes = 65536
)";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return result.replace(at, from.size(), to);
}

void expect_error(const std::string& text, std::string_view saying) {
  const auto part = parse_part(text, "board");
  ASSERT_FALSE(part.ok()) << saying;
  EXPECT_EQ(part.error().kind, ErrorKind::kBadInput);
  EXPECT_TRUE(part.error().message.starts_with("board")) << part.error().message;
  EXPECT_NE(part.error().message.find(saying), std::string::npos) << part.error().message;
}

TEST(Part, ReadsWhatAFileSays) {
  const auto part = parse_part(kGood, "board");
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->cpu->name, "cortex-m55");
  ASSERT_EQ(part->engines.size(), 1U);
  EXPECT_EQ(part->engines[0].name, "ethos-u55-64");
  EXPECT_EQ(part->engines[0].memory_mode, "Sram_Only");
  EXPECT_EQ(part->engines[0].settings.at("clock_mhz"), 400);
  EXPECT_EQ(part->engines[0].settings.at("sram.read_latency"), 20);
  ASSERT_EQ(part->memories.size(), 1U);
  EXPECT_EQ(part->memories[0].bytes, 65536);
}

TEST(Part, TheRt700HasANeutronUnderBothNames) {
  for (const std::string_view name : {"imxrt700", "imxrt700cm"}) {
    const auto part = find_part(name);
    ASSERT_TRUE(part.ok()) << part.error().message;
    EXPECT_EQ(part->cpu->name, "cortex-m33");
    ASSERT_EQ(part->engines.size(), 1U);
    EXPECT_EQ(part->engines[0].name, "neutron-n3-64");
    EXPECT_EQ(part->engines[0].settings.at("clock_mhz"), 325);
    ASSERT_EQ(part->memories.size(), 1U);
    EXPECT_EQ(part->memories[0].bytes, 7864320);
  }
  EXPECT_EQ(find_part("neutron-n3-64")->cpu->name, "cortex-m33");
}

TEST(Part, TheNrf54lm20bHasAnAxon) {
  const auto part = find_part("nrf54lm20b");
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->cpu->name, "cortex-m33");
  ASSERT_EQ(part->engines.size(), 1U);
  EXPECT_EQ(part->engines[0].name, "axon");
  EXPECT_EQ(part->engines[0].settings.at("dispatch_us"), 72);
  constexpr std::string_view kAxon =
      "cpu = \"cortex-m33\"\n[[engine]]\nname = \"axon\"\nsettings = { dispatch_us = 5 }\n";
  EXPECT_TRUE(parse_part(kAxon, "board").ok());
  expect_error(replaced(kAxon, "dispatch_us", "speed"), "clock_mhz or dispatch_us");
  expect_error(replaced(kAxon, "dispatch_us = 5", "dispatch_us = -1"), "expected 0 to 10000");
  expect_error(replaced(kAxon, "settings", "memory_mode = \"Sram_Only\"\nsettings"), "memory_mode");
}

TEST(Part, SaysWhatIsWrong) {
  expect_error(replaced(kGood, "cortex-m55", "z80"), "z80");
  expect_error(replaced(kGood, "cpu = \"cortex-m55\"", ""), "has no cpu");
  expect_error(replaced(kGood, "ethos-u55-64", "ethos-u99"), "ethos-u99");
  expect_error(replaced(kGood, "Sram_Only", "Somewhere"), "Somewhere");
  expect_error(replaced(kGood, "Ethos_U55_Deep_Embedded", "Deep"), "Deep");
  expect_error(replaced(kGood, "clock_mhz", "clock_khz"), "clock_khz");
  expect_error(replaced(kGood, "clock_mhz = 400", "clock_mhz = 0"), "clock_mhz is 0");
  expect_error(replaced(kGood, "read_latency = 20", "read_latency = 70000"), "sram.read_latency");
  expect_error(replaced(kGood, "Sram_Only", "Dedicated_Sram"), "Dedicated_Sram");
  expect_error(replaced(kGood, "Ethos_U55_Deep_Embedded", "Ethos_U65_Mid_End"), "generation");
  expect_error(replaced(kGood, "bytes = 65536", "bytes = -1"), "number of bytes");
  expect_error(replaced(kGood, "name = \"sram\"", "name = \"tape\""), "tape");
  expect_error(replaced(kGood, "summary", "sumary"), "sumary");
  expect_error(replaced(kGood, "\"a board\"", "\"a board"), "board");
  expect_error(replaced(kGood, "[[engine]]", "[engine]"), "not a list of tables");
}

TEST(Part, EveryNamedPartLoads) {
  const std::vector<std::string> names = part_names();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  for (const std::string& name : names) {
    const auto part = find_part(name);
    ASSERT_TRUE(part.ok()) << part.error().message;
    EXPECT_EQ(part->name, name);
    EXPECT_FALSE(part->summary.empty());
    EXPECT_NE(part->cpu, nullptr);
  }
  for (const char* name : {"corstone-300", "corstone-310", "corstone-320", "alif-e7", "alif-e8",
                           "stm32n6", "ethos-u55-32", "ethos-u85-2048", "cortex-m4"}) {
    EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
  }
  EXPECT_FALSE(find_part("ethos-u55").ok());  // a family is no part
}

TEST(Part, AMisspeltNameGetsTheNearest) {
  for (const auto& [name, meant] : {std::pair{"corstone300", "corstone-300"},
                                    {"corstone-300.", "corstone-300"},
                                    {"ethos-u55", "ethos-u55-32"},
                                    {"cortexm4", "cortex-m4"},
                                    {"nrf54lm20", "nrf54lm20b"}}) {
    const auto part = find_part(name);
    ASSERT_FALSE(part.ok()) << name;
    EXPECT_EQ(part.error().kind, ErrorKind::kBadInput);
    EXPECT_NE(part.error().message.find(std::string("; close to it: ") + meant), std::string::npos)
        << part.error().message;
  }
  const auto engine = find_engine("axom");
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.error().message.find("close to it: axon;"), std::string::npos);
  EXPECT_EQ(find_part("qqqqqqqqqq").error().message.find("close to it"), std::string::npos);
}

TEST(Part, NoEngineHasTwoRows) {
  std::vector<std::string> names;
  for (const EngineName& engine : all_engines()) names.push_back(engine.name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_TRUE(std::ranges::binary_search(names, "axon"));
}

TEST(Part, ExecuTorchsSpellingOfACore) {
  const auto part = find_part("cortex-m55+int8");
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->name, "cortex-m55");
}

}  // namespace
}  // namespace thimble::target
