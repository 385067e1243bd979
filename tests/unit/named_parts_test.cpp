// SPDX-License-Identifier: Apache-2.0
// The parts of targets/: their figures, their names, and what an unknown name is told.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/part.h"

namespace thimble::engine {
namespace {

TEST(NamedParts, FiltersNames) {
  const std::vector<std::string> names = {"nrf52832", "nrf52840", "stm32h743", "stm32l4r5"};
  using Names = std::vector<std::string>;
  EXPECT_EQ(filter_names(names, "nrf"), (Names{"nrf52832", "nrf52840"}));
  EXPECT_EQ(filter_names(names, "STM32H"), Names{"stm32h743"});
  EXPECT_EQ(filter_names(names, "*4*"), (Names{"nrf52840", "stm32h743", "stm32l4r5"}));
  EXPECT_EQ(filter_names(names, "nrf*0"), Names{"nrf52840"});
  EXPECT_EQ(filter_names(names, "52*"), Names{});
  EXPECT_EQ(filter_names(names, ""), names);
}

TEST(NamedParts, RefusesChipsWithoutCortexM) {
  for (const char* name : {"esp32", "esp32s3", "ch32v307", "atmega328p"}) {
    const auto part = find_part(name);
    ASSERT_FALSE(part.ok()) << name;
    EXPECT_EQ(part.error().kind, ErrorKind::kUnsupported);
    EXPECT_NE(part.error().message.find("only parts with an Arm Cortex-M are supported"),
              std::string::npos);
  }
  EXPECT_EQ(find_part("esp32").error().message,
            "target esp32: its core is Xtensa or RISC-V; only parts with an Arm Cortex-M are "
            "supported");
}

TEST(NamedParts, NamesTheReplacementOfTargetsOfOtherFlows) {
  for (const auto& [name, expected] :
       std::map<std::string, std::string>{{"cortex-m", "code for cortex-m0 runs on every Cortex-M"},
                                          {"TOSA-1.0+INT", "--emit tosa"},
                                          {"TOSA-1.0+INT+int16", "--emit tosa --activations int16"},
                                          {"TOSA-1.0+FP", "--emit tosa-fp"},
                                          {"vgf", "no engine for Vulkan"}}) {
    const auto part = find_part(name);
    ASSERT_FALSE(part.ok()) << name;
    EXPECT_EQ(part.error().kind, ErrorKind::kBadInput);
    EXPECT_TRUE(part.error().message.ends_with(expected)) << part.error().message;
  }
}

/// Chips without a figure, and the reason.
struct Exception {
  std::string_view chip, figure, reason;
};
constexpr Exception kExceptions[] = {
    {"corstone-300", "clock", "a simulated platform and an FPGA image, no chip"},
    {"corstone-300-u55-256", "clock", "as corstone-300"},
    {"corstone-310", "clock", "as corstone-300"},
    {"corstone-310", "sram", "differs between the model and the FPGA image"},
    {"corstone-320", "clock", "as corstone-300"},
    {"corstone-320-u85-1024", "clock", "as corstone-300"},
    {"corstone-320-u85-2048", "clock", "as corstone-300"},
    {"corstone-320-u85-512", "clock", "as corstone-300"},
    {"corstone-300", "flash", "constants are in a memory of any size"},
    {"corstone-300-u55-256", "flash", "as corstone-300"},
    {"corstone-310", "flash", "as corstone-300"},
    {"corstone-320", "flash", "as corstone-300"},
    {"corstone-320-u85-1024", "flash", "as corstone-300"},
    {"corstone-320-u85-2048", "flash", "as corstone-300"},
    {"corstone-320-u85-512", "flash", "as corstone-300"},
    {"imx95", "clock", "Linux sets it"},
    {"imx95", "sram", "the NPU's memory is DRAM, which Linux shares"},
    {"imx95", "flash", "as sram"},
    {"imxrt700", "flash", "the chip has none; it differs between boards"},
    {"imxrt700cm", "flash", "as imxrt700"},
    {"pse84", "clock", "sources disagree"},
    {"siwx917", "clock", "found in no source that can be quoted"},
    {"siwx917", "sram", "the share of the application core depends on the radio's firmware"},
};

TEST(NamedParts, EveryChipStatesItsFigures) {
  std::vector<std::string> missing, expected;
  for (const Exception& each : kExceptions) {
    EXPECT_FALSE(each.reason.empty());
    expected.push_back(fmt::format("{} {}", each.chip, each.figure));
  }
  for (const std::string& name : chip_names()) {
    const auto part = find_part(name);
    ASSERT_TRUE(part.ok()) << part.error().message;
    EXPECT_FALSE(part->source.empty()) << name;
    if (part->clock_mhz == 0) missing.push_back(name + " clock");
    if (part->has_memory_speeds()) continue;  // their bytes are required
    for (const std::string_view memory : {"sram", "flash"}) {
      const auto found = std::ranges::find(part->memories, memory, &PartMemory::name);
      if (found == part->memories.end() || found->bytes == 0) {
        missing.push_back(fmt::format("{} {}", name, memory));
      }
    }
  }
  std::ranges::sort(missing);
  std::ranges::sort(expected);
  EXPECT_EQ(missing, expected);
  EXPECT_GE(chip_names().size(), 60U);
}

TEST(NamedParts, ChipsWithWaitStatesStateBothCaches) {
  for (const std::string& name : chip_names()) {
    const auto part = find_part(name);
    ASSERT_TRUE(part.ok()) << part.error().message;
    for (const PartMemory& memory : part->memories) {
      if (!memory.kept || memory.wait_states.value_or(0) == 0) continue;
      EXPECT_EQ(memory.cache_bytes.has_value(), memory.instruction_cache_bytes.has_value()) << name;
    }
  }
}

TEST(NamedParts, Rt700HasNeutronUnderBothNames) {
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

TEST(NamedParts, EveryNamedPartLoads) {
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
                           "stm32n6", "ethos-u55-32", "ethos-u85-2048", "cortex-m4", "stm32h743",
                           "rp2040", "rp2350", "nrf52840", "ra8d1", "max78000"}) {
    EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
  }
  EXPECT_FALSE(find_part("ethos-u55").ok());  // a product family is not a part
}

TEST(NamedParts, ErrorSuggestsNearestName) {
  for (const auto& [name, meant] : {std::pair{"corstone300", "corstone-300"},
                                    {"corstone-300.", "corstone-300"},
                                    {"ethos-u55", "ethos-u55-32"},
                                    {"cortexm4", "cortex-m4"},
                                    {"nrf54lm20", "nrf54lm20b"}}) {
    const auto part = find_part(name);
    ASSERT_FALSE(part.ok()) << name;
    EXPECT_EQ(part.error().kind, ErrorKind::kBadInput);
    EXPECT_NE(part.error().message.find(std::string("; similar names: ") + meant),
              std::string::npos)
        << part.error().message;
  }
  const auto engine = find_npu("axom");
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.error().message.find("similar names: axon;"), std::string::npos);
  EXPECT_EQ(find_part("qqqqqqqqqq").error().message.find("similar names"), std::string::npos);
}

TEST(NamedParts, ExecuTorchsSpellingOfACore) {
  const auto part = find_part("cortex-m55+int8");
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->name, "cortex-m55");
}

}  // namespace
}  // namespace thimble::engine
