// SPDX-License-Identifier: Apache-2.0
// Command streams from another compiler, with outputs from another reference: the archives of
// tests/data/ethos_u, selected by tests/peers/ethos_u. Every byte must be equal, on the simulator's
// fast paths and on its general ones. No stream may have a hazard. The text of a stream must
// assemble to the same stream.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/folders.h"
#include "tests/npu/case.h"

namespace {

using namespace thimble::ethos_u::testing;
using thimble::ethos_u::Generation;

struct Named {
  std::string name;
  Case c;
};

std::vector<Named> golden() {
  std::vector<Named> cases;
  const std::filesystem::path folder = thimble::test::source_folder() / "tests/data/ethos_u";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cases") continue;
    std::string error;
    for (const auto& [name, files] : read_archive(entry.path(), &error)) {
      cases.push_back({entry.path().stem().string() + "/" + name, read_case(files)});
    }
    EXPECT_EQ(error, "") << entry.path();
  }
  std::sort(cases.begin(), cases.end(),
            [](const Named& a, const Named& b) { return a.name < b.name; });
  return cases;
}

TEST(NpuStreams, ArchivesCoverEveryGeneration) {
  size_t count[3] = {};
  for (const Named& named : golden()) {
    ASSERT_EQ(named.c.error, "") << named.name;
    ++count[static_cast<size_t>(named.c.config->generation)];
  }
  for (const size_t cases : count) EXPECT_GE(cases, 15U);
}

TEST(NpuStreams, OutputsAreEqual) {
  for (const Named& named : golden()) {
    ASSERT_EQ(named.c.error, "") << named.name;
    EXPECT_EQ(run_case(named.c, {}), "") << named.name;
    Options slow;
    slow.slow = true;
    EXPECT_EQ(run_case(named.c, slow), "") << named.name << " on the general paths";
  }
}

TEST(NpuStreams, NoneHasAHazard) {
  for (const Named& named : golden()) {
    ASSERT_EQ(named.c.error, "") << named.name;
    Options options;
    options.hazards = true;
    EXPECT_EQ(run_case(named.c, options), "") << named.name;
  }
}

TEST(NpuStreams, TextRoundTripKeepsStream) {
  for (const Named& named : golden()) {
    ASSERT_EQ(named.c.error, "") << named.name;
    EXPECT_EQ(round_trip(named.c), "") << named.name;
  }
}

/// A change of one byte of the expected outputs, the inputs or the constants is detected.
TEST(NpuStreams, DetectsChangedByte) {
  for (const Named& named : golden()) {
    ASSERT_EQ(named.c.error, "") << named.name;
    Case expected = named.c;
    Bytes& bytes = expected.outputs.back().bytes;
    bytes[bytes.size() / 2] ^= 1;
    EXPECT_NE(run_case(expected, {}), "") << named.name;
    if (named.name.find("/small_conv") == std::string::npos) continue;
    Case constants = named.c;
    for (size_t i = 0; i < 5; ++i) constants.regions[0][i] ^= 0x55;  // changes a bias
    EXPECT_NE(run_case(constants, {}), "") << named.name;
  }
}

TEST(NpuStreams, DamagedArchivesHaveAMessage) {
  std::string error;
  EXPECT_TRUE(read_archive("/no such file", &error).empty());
  EXPECT_NE(error, "");
  EXPECT_NE(read_case({}).error, "");
  const std::string meta = "config ethos-u55-128\nregion 1 zero 16\noutput 1 8 9 output0.bin\n";
  Files files = {{"meta.txt", Bytes(meta.begin(), meta.end())},
                 {"cmd.bin", Bytes(16)},
                 {"output0.bin", Bytes(9)}};
  EXPECT_EQ(read_case(files).error, "output0.bin does not fit into its region");
  const std::string good = "config ethos-u55-128\nregion 1 zero 17\noutput 1 8 9 output0.bin\n";
  files["meta.txt"] = Bytes(good.begin(), good.end());
  EXPECT_EQ(read_case(files).error, "cmd.bin is not a driver payload");
}

}  // namespace
