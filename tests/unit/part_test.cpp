// SPDX-License-Identifier: Apache-2.0
// Parts are TOML files. Valid entries are read; an error names the invalid entry.

#include "engine/part.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "quant/quantize.h"

namespace thimble::engine {
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

TEST(Part, ReadsEveryEntry) {
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

constexpr std::string_view kMemories = R"(
cpu = "cortex-m7"

[[memory]]
name = "dtcm"
bytes = 65536
cycles_per_word = 1

[[memory]]
name = "mram"
bytes = 1048576
cycles_per_word = 2.5
kept = true

[[memory]]
name = "psram"
bytes = 4194304
cycles_per_word = 8
holds = ["constants"]
)";

TEST(Part, ReadsSpeedAndContentOfMemories) {
  const auto part = parse_part(kMemories, "board");
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_TRUE(part->has_memory_speeds());
  ASSERT_EQ(part->memories.size(), 3U);
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(part->memories[0].holds_names(), (Words{"arena", "constants"}));
  EXPECT_FALSE(part->memories[0].kept);
  EXPECT_EQ(part->memories[1].holds_names(), Words{"constants"});
  EXPECT_TRUE(part->memories[1].kept);
  EXPECT_EQ(part->memories[1].cycles_per_word, 2.5);
  EXPECT_EQ(part->memories[2].holds_names(), Words{"constants"});
  EXPECT_FALSE(parse_part(kGood, "board")->has_memory_speeds());
  EXPECT_TRUE(find_part("imxrt1060")->has_memory_speeds());
}

constexpr std::string_view kTiming = R"(
cpu = "cortex-m4"
clock_mhz = 120
ua_per_mhz = 106.5
ua_per_mhz_source = "data sheet, table 9"
supply_volts = 3.3
source = "data sheet"

[[memory]]
name = "sram"
bytes = "640K"
wait_states = 0

[[memory]]
name = "flash"
bytes = "2M"
wait_states = 5
line_bytes = 8
cache_bytes = 1280
instruction_cache_bytes = "1K"
prefetch = true
source = "reference manual, table 12"
)";

TEST(Part, ReadsClockAndTimingOfMemories) {
  const auto part = parse_part(kTiming, "board");
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->clock_mhz, 120);
  EXPECT_EQ(part->ua_per_mhz, 106.5);
  EXPECT_EQ(part->ua_per_mhz_source, "data sheet, table 9");
  EXPECT_EQ(part->supply_volts, 3.3);
  EXPECT_EQ(part->source, "data sheet");
  ASSERT_EQ(part->memories.size(), 2U);
  const PartMemory& sram = part->memories[0];
  EXPECT_EQ(sram.bytes, 640 * 1024);
  EXPECT_EQ(sram.wait_states, 0);
  EXPECT_EQ(sram.line_bytes, 0);
  EXPECT_FALSE(sram.prefetch);
  const PartMemory& flash = part->memories[1];
  EXPECT_EQ(flash.bytes, 2 * 1024 * 1024);
  EXPECT_EQ(flash.wait_states, 5);
  EXPECT_EQ(flash.line_bytes, 8);
  EXPECT_EQ(flash.cache_bytes, 1280);
  EXPECT_EQ(flash.instruction_cache_bytes, 1024);
  EXPECT_FALSE(flash.external);
  EXPECT_TRUE(flash.prefetch);
  EXPECT_EQ(flash.source, "reference manual, table 12");
  const auto plain = parse_part(kGood, "board");
  EXPECT_EQ(plain->clock_mhz, 0);
  EXPECT_FALSE(plain->ua_per_mhz.has_value());
  EXPECT_FALSE(plain->memories[0].wait_states.has_value());
}

TEST(Part, ReadsCodeRam) {
  constexpr std::string_view kText = R"(cpu = "cortex-m7"
kernel_code = "itcm"
[[memory]]
name = "sram"
[[memory]]
name = "flash"
wait_states = 7
[code_ram]
name = "itcm"
bytes = "16K"
)";
  const Part part = *parse_part(kText, "chip");
  ASSERT_TRUE(part.code_ram);
  EXPECT_EQ(part.code_ram->bytes, 16384);
  EXPECT_EQ(part.code_ram->wait_states, 0);
  EXPECT_EQ(kernel_code_memory(part), &*part.code_ram);
  // RAM of data can hold code too; the memory of the program needs no copy.
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text(kText);
    text.replace(text.find(from), from.size(), to);
    return parse_part(text, "chip");
  };
  const Part in_sram = *with("\"itcm\"", "\"sram\"");
  EXPECT_EQ(kernel_code_memory(in_sram), in_sram.memories.data());
  EXPECT_EQ(kernel_code_memory(*with("\"itcm\"", "\"flash\"")), nullptr);
  EXPECT_EQ(with("\"itcm\"", "\"itc\"").error().message,
            "chip.toml:2: kernel code in itc: expected itcm or sram or flash of chip; similar "
            "names: itcm");
  EXPECT_EQ(with("bytes = \"16K\"", "").error().message,
            "chip.toml:8: code_ram: a name such as \"itcm\" and its bytes were expected");
  EXPECT_EQ(with("name = \"itcm\"", "name = \"sram\"").error().message,
            "chip.toml:8: memory sram is defined twice");
  EXPECT_EQ(with("\"itcm\"", "'\xFF'").error().message, "chip.toml:2: the text is not UTF-8");
}

TEST(Part, RefusesInvalidTiming) {
  constexpr std::string_view kSize =
      R"(memory: bytes is not a number of bytes, such as 65536, "64K" or "1M")";
  expect_error(replaced(kTiming, "\"640K\"", "\"640 kB\""), kSize);
  expect_error(replaced(kTiming, "\"640K\"", "\"K\""), kSize);
  expect_error(replaced(kTiming, "\"640K\"", "\"99999999999999999M\""), kSize);
  expect_error(replaced(kTiming, "\"640K\"", "6.5"), kSize);
  expect_error(replaced(kTiming, "clock_mhz = 120", "clock_mhz = 0"),
               "board.toml:3: clock_mhz is not a number of MHz, more than 0");
  expect_error(replaced(kTiming, "clock_mhz = 120", "clock_mhz = \"120\""), "clock_mhz is not");
  expect_error(replaced(kTiming, "wait_states = 5", "wait_states = -1"),
               "memory: wait_states is not a number of core cycles, at most 1000");
  expect_error(replaced(kTiming, "wait_states = 5", "wait_states = 1e6"),
               "memory: wait_states is not a number of core cycles, at most 1000");
  expect_error(replaced(kTiming, "prefetch = true", "prefetch = 1"),
               "memory: prefetch is not true or false");
  expect_error(replaced(kTiming, "ua_per_mhz_source = \"data sheet, table 9\"\n", ""),
               "board.toml:4: ua_per_mhz without ua_per_mhz_source");
}

TEST(Part, ErrorNamesNearestKey) {
  for (const auto& [key, wrong] : {std::pair{"clock_mhz", "clock_mHz"},
                                   {"ua_per_mhz =", "ua_per_Mhz ="},
                                   {"supply_volts", "supply_volt"},
                                   {"wait_states", "waitstates"},
                                   {"line_bytes", "line_byte"},
                                   {"cache_bytes", "cache_byts"},
                                   {"instruction_cache_bytes", "instruction_cache_byte"},
                                   {"prefetch", "prefetsh"},
                                   {"bytes = \"640K\"", "byte = \"640K\""}}) {
    const std::string_view name(key);
    expect_error(replaced(kTiming, key, wrong),
                 fmt::format("is not a known key; similar names: {}",
                             name == "prefetch" ? name : name.substr(0, name.find(' '))));
  }
}

TEST(Part, RefusesInconsistentMemories) {
  expect_error(replaced(kMemories, "cycles_per_word = 8\n", ""), "psram");
  expect_error(replaced(kMemories, "name = \"psram\"\nbytes = 4194304\ncycles_per_word = 8\n",
                        "name = \"sram\"\nbytes = 4194304\n"),
               "holds is not a known key");
  expect_error(replaced(kMemories, "cycles_per_word = 8\nholds = [\"constants\"]\n", "") +
                   "cycles_per_word = 0\n",
               "cycles_per_word is not a number of cycles, more than 0");
  expect_error(replaced(kMemories, "bytes = 65536\n", ""), "dtcm has cycles_per_word but no bytes");
  expect_error(replaced(kMemories, "\"dtcm\"", "\"D-TCM\""), "a name of small letters");
  expect_error(replaced(kMemories, "kept = true", "kept = true\nholds = [\"arena\"]"),
               "nothing is written to it");
  expect_error(replaced(kMemories, "[\"constants\"]", "[\"stack\"]"), "holds stack: not known");
  expect_error(replaced(kMemories, "kept = true", "kept = false"),
               "expected at least one that is kept without power and one that is not");
  expect_error(
      replaced(
          kMemories, "cpu = \"cortex-m7\"",
          "cpu = \"cortex-m55\"\n[[engine]]\nname = \"ethos-u55-64\"\nmemory_mode = \"Sram_Only\"\n"
          "system = \"Ethos_U55_Deep_Embedded\""),
      "cycles_per_word is not supported for a part with an engine");
}

TEST(Part, ErrorNamesMemoriesWithoutSpeed) {
  const std::string text =
      replaced(kMemories, "name = \"dtcm\"\nbytes = 65536\ncycles_per_word = 1\n",
               "name = \"sram\"\nbytes = 65536\n");
  expect_error(text, "mram has cycles_per_word, but sram does not");
}

TEST(Part, Nrf54lm20bHasAxon) {
  const auto part = find_part("nrf54lm20b");
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->cpu->name, "cortex-m33");
  ASSERT_EQ(part->engines.size(), 1U);
  EXPECT_EQ(part->engines[0].name, "axon");
  EXPECT_EQ(part->engines[0].settings.at("dispatch_us"), 72);
  constexpr std::string_view kAxon =
      "cpu = \"cortex-m33\"\n[[engine]]\nname = \"axon\"\nsettings = { dispatch_us = 5 }\n";
  EXPECT_TRUE(parse_part(kAxon, "board").ok());
  expect_error(replaced(kAxon, "dispatch_us", "speed"),
               "one of clock_mhz, dispatch_us was expected");
  expect_error(replaced(kAxon, "dispatch_us = 5", "dispatch_us = -1"), "expected 0 to 10000");
  expect_error(replaced(kAxon, "settings", "memory_mode = \"Sram_Only\"\nsettings"), "memory_mode");
}

TEST(Part, ErrorsNameInvalidEntry) {
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

TEST(Part, ReadsRecipe) {
  const auto part = parse_part(std::string("kernels = \"executorch\"\n") + std::string(kGood) + R"(
[quantization]
activations = "int16"
observer = "mse"
equalize = true
tune = false
preferences = false

[partition]
keep_small = true
minimum_steps = 5000
engine_off = ["softmax", "aten.add*"]
)",
                               "board");
  ASSERT_TRUE(part.ok()) << part.error().message;
  const Recipe& recipe = part->recipe;
  EXPECT_EQ(recipe.activations, "int16");
  EXPECT_EQ(recipe.observer, "mse");
  EXPECT_EQ(recipe.equalize, true);
  EXPECT_EQ(recipe.tune, false);
  EXPECT_EQ(recipe.preferences, false);
  EXPECT_EQ(recipe.keep_small, true);
  EXPECT_EQ(recipe.minimum_steps, 5000);
  EXPECT_EQ(recipe.engine_off, (std::vector<std::string>{"softmax", "aten.add*"}));
  EXPECT_EQ(recipe.kernels, "executorch");
  const auto plain = parse_part(kGood, "board");
  EXPECT_FALSE(plain->recipe.observer || plain->recipe.keep_small || plain->recipe.kernels);
}

TEST(Part, RecipeErrorsAreLocatedAndListValidNames) {
  const auto with = [](std::string_view more) { return std::string(kGood) + std::string(more); };
  expect_error(with("[quantization]\nobserver = \"mes\"\n"),
               "board.toml:15: quantization: observer mes: not known; similar names: mse; one of ");
  expect_error(with("[quantization]\nobservr = \"mse\"\n"),
               "board.toml:15: quantization: observr is not a known key; similar names: observer");
  expect_error(with("[quantization]\npreferences = \"off\"\n"), "preferences is not true or false");
  expect_error(with("[partition]\nengine_off = \"add\"\n"), "is not a list of strings");
  expect_error(with("[partition]\nminimum_steps = -1\n"), "is not a number of steps");
  expect_error(with("[kernels]\nset = 1\n"), "kernels is not a string");
  expect_error("cpu = \"cortex-m55\"\npartition = 3\n", "board.toml:2: partition is not a table");
  expect_error("cpu = \"cortex-m55\"\nbase = 3\n", "board.toml:2: base is not a string");
}

TEST(Part, RecipeObserversEqualQuantObservers) {
  std::vector<std::string_view> names;
  for (const quant::Observer each : quant::kObservers) names.push_back(quant::observer_name(each));
  const auto known = recipe_observers();
  EXPECT_TRUE(std::ranges::is_permutation(names, known));
}

TEST(Part, FileInheritsFromBase) {
  for (const char* base :
       {"corstone-300", "nrf54lm20b", "imxrt700cm", "ethos-u85-256", "cortex-m4"}) {
    const auto same = parse_part(fmt::format("base = \"{}\"\n", base), "mine");
    const auto plain = find_part(base);
    ASSERT_TRUE(same.ok() && plain.ok()) << base << same.error().message;
    EXPECT_EQ(same->name, "mine");
    EXPECT_EQ(same->summary, plain->summary);
    EXPECT_EQ(same->cpu, plain->cpu);
    ASSERT_EQ(same->engines.size(), plain->engines.size());
    for (size_t i = 0; i < same->engines.size(); ++i) {
      EXPECT_EQ(same->engines[i].engine, plain->engines[i].engine);
      EXPECT_EQ(same->engines[i].settings, plain->engines[i].settings);
    }
    EXPECT_EQ(same->memories.size(), plain->memories.size());
  }
}

TEST(Part, FileOverridesBase) {
  constexpr std::string_view kOwn = R"(
base = "nrf54lm20b"
summary = "mine"

[[engine]]
name = "axon"
settings = { dispatch_us = 5 }

[[engine]]
name = "ethos-u55-64"
memory_mode = "Shared_Sram"
system = "Ethos_U55_High_End_Embedded"

[[memory]]
name = "sram"
bytes = 1000
)";
  const auto part = parse_part(kOwn, "mine");
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->summary, "mine");
  EXPECT_EQ(part->cpu->name, "cortex-m33");
  ASSERT_EQ(part->engines.size(), 2U);
  EXPECT_EQ(part->engines[0].name, "axon");
  EXPECT_EQ(part->engines[0].settings.at("dispatch_us"), 5);
  EXPECT_EQ(part->engines[0].settings.at("clock_mhz"), 128);
  EXPECT_EQ(part->engines[1].name, "ethos-u55-64");
  ASSERT_EQ(part->memories.size(), 2U);
  EXPECT_EQ(part->memories[0].bytes, 1000);
  EXPECT_EQ(part->memories[1].bytes, 2084864);

  const std::string turned = "engines = [\"ethos-u55-64\", \"axon\"]\n" + std::string(kOwn);
  EXPECT_EQ(parse_part(turned, "mine")->engines[0].name, "ethos-u55-64");
  const std::string none = "engines = []\n" + std::string(kOwn);
  EXPECT_TRUE(parse_part(none, "mine")->engines.empty());
  expect_error("base = \"nrf54lm20b\"\nengines = [\"axom\"]\n",
               "board.toml:2: engines: axom is not an engine of this part; similar names: axon; "
               "its engines are axon");
  expect_error("base = \"nrf54lm20\"\n", "similar names: nrf54lm20b");
  expect_error(
      "base = \"corstone-300\"\n[[engine]]\nname = \"ethos-u55-128\"\n"
      "settings = { clock_mhz = 0 }\n",
      "board.toml:2: ethos-u55-128: setting clock_mhz is 0");
  // An error in a line of the base file names that file.
  const auto wrong = parse_part("base = \"nrf54lm20b\"\n[[memory]]\nbytes = 5\n", "board");
  EXPECT_EQ(wrong.error().message, "board.toml:2: has no name");
}

TEST(Part, BaseIsFoundInSameFolder) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("thimble_part_{}", getpid());
  std::filesystem::create_directories(folder / "sub");
  const auto write = [&](const char* name, std::string_view text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  write("low.toml", "base = \"corstone-300\"\n[quantization]\nobserver = \"mse\"\n");
  const std::string high = write(
      "sub/high.toml", "base = \"../low.toml\"\nsummary = \"high\"\n[quantization]\ntune = true\n");
  const auto part = find_part(high);
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->name, "high");
  EXPECT_EQ(part->engines.size(), 1U);
  EXPECT_EQ(part->recipe.observer, "mse");
  EXPECT_EQ(part->recipe.tune, true);
  const std::string own = write("own.toml", "base = \"own.toml\"\n");
  EXPECT_NE(find_part(own).error().message.find("is based on this file (cycle)"),
            std::string::npos);
  const std::string dotted = write("dotted.toml", "base = \"./dotted.toml\"\n");
  EXPECT_NE(find_part(dotted).error().message.find("is based on this file (cycle)"),
            std::string::npos);
  for (int i = 0; i < 16; ++i) {
    write(fmt::format("chain{}.toml", i).c_str(), fmt::format("base = \"chain{}.toml\"\n", i + 1));
  }
  write("chain16.toml", "base = \"corstone-300\"\n");
  EXPECT_TRUE(find_part((folder / "chain3.toml").string()).ok());
  EXPECT_NE(find_part((folder / "chain0.toml").string())
                .error()
                .message.find("more than 16 files are based on each other"),
            std::string::npos);
  expect_error("cpu = \"cortex-m4\"\nsummary = \"a\\u001bb\"\n",
               "summary is not a string without control characters");
  const std::string lost = write("lost.toml", "base = \"nowhere.toml\"\n");
  EXPECT_NE(find_part(lost).error().message.find("lost.toml:1: "), std::string::npos);
  EXPECT_NE(find_part(lost).error().message.find("no such file"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Part, RefusesDuplicateEntries) {
  const std::string cpu = "cpu = \"cortex-m33\"\n";
  expect_error(cpu + "[[memory]]\nname = \"sram\"\n[[memory]]\nname = \"sram\"\n",
               "board.toml:4: memory sram is defined twice");
  expect_error(cpu + "[[engine]]\nname = \"axon\"\n[[engine]]\nname = \"axon\"\n",
               "board.toml:4: engine axon is defined twice");
}

TEST(Part, RefusesDeepNesting) {
  std::string brackets, braces, dots;
  for (int i = 0; i < 20000; ++i) {
    brackets += '[';
    braces += "{a = ";
    dots += "a.";
  }
  for (const std::string& deep : {"x = " + brackets, "x = " + braces, dots + "a = 1"}) {
    expect_error("cpu = \"cortex-m33\"\n" + deep + "\n", "board.toml:2: nested too deeply");
  }
}

TEST(Part, RefusesLongFile) {
  std::string lists = "x = [";
  while (lists.size() < 40'000) lists += "[],";
  expect_error(lists + "]\n", "expected a part's file of at most 32768");
}

TEST(Part, RefusesDuplicateEngine) {
  std::vector<std::string> names;
  for (const NpuName& engine : all_npus()) names.push_back(engine.name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_TRUE(std::ranges::binary_search(names, "axon"));
}

}  // namespace
}  // namespace thimble::engine
