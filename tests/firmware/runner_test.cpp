// SPDX-License-Identifier: Apache-2.0
// A tiny model on each core: outputs, report, instruction counts, and the inputs that are refused.

#include <algorithm>
#include <cstring>

#include "formats/pte/write.h"
#include "models.h"
#include "support.h"

namespace thimble::firmware_test {
namespace {

Bytes bytes_of(const std::vector<float>& numbers) {
  Bytes bytes(numbers.size() * 4);
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> numbers(bytes.size() / 4);
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * 4);
  return numbers;
}

class Runner : public testing::TestWithParam<Core> {
 protected:
  void SetUp() override {
    const Result<Bytes> model = formats::pte::write(round_program());
    ASSERT_TRUE(model.ok());
    write_file("round.pte", *model);
    // The file holds the inputs of two runs.
    write_file("x.bin", bytes_of({0, 1, -1, 100, 0.25F, 0.26F, -200, 62}));
  }
  base::ProcessResult run_words(std::vector<std::string> words, const std::string& counts = "") {
    const Core& core = GetParam();
    words.insert(words.begin(), "runner");
    return run({image("runner", core), core.machine, std::move(words), counts});
  }
};

TEST_P(Runner, RunsModelOncePerInputInFile) {
  const auto result = run_words({"round.pte", "x.bin", "y"});
  ASSERT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(floats_of(read_file("y_0.bin")),
            (std::vector<float>{0, 1, -1, 62, 0, 0.5F, -65.5F, 62}));
  EXPECT_EQ(read_file("y_1.bin"), std::string({3, 5, 1, 127, 3, 4, -128, 127}));
  const std::string report = read_file("y.txt");
  for (const char* line : {"arena_bytes 48\n", "state_bytes 8\n", "instructions 2\n", "runs 2\n",
                           "status 0 ok\n", "output 0 dtype 6 bytes 16 sizes 1 4 dim_order 0 1\n",
                           "op 1 cortex_m::dequantize_per_tensor.out\n"}) {
    EXPECT_NE(report.find(line), std::string::npos) << line << "in\n" << report;
  }
}

TEST_P(Runner, InstructionCountsAreReproducible) {
  const auto plain = run_words({"round.pte", "x.bin", "y"}, "plain.count");
  ASSERT_EQ(plain.exit_code, 0) << plain.output;
  run_words({"round.pte", "x.bin", "y"}, "again.count");
  run_words({"-p", "round.pte", "x.bin", "y"}, "ops.count");
  const std::string counts = read_file("plain.count");
  EXPECT_EQ(counts, read_file("again.count"));
  EXPECT_GT(counted(counts, "load 0"), 500);
  EXPECT_LT(counted(counts, "load 0"), 40000);
  EXPECT_GT(counted(counts, "run 0"), 100);
  EXPECT_GT(counted(counts, "total 0"), counted(counts, "load 0") + counted(counts, "run 0"));
  EXPECT_EQ(counts.find("\nop "), std::string::npos);
  // One count per operator. The two operators are small; decoding the calls of a file without
  // records is most of the remaining run.
  const std::string ops = read_file("ops.count");
  const long sum = counted(ops, "op 0") + counted(ops, "op 1");
  EXPECT_LT(sum, counted(ops, "run 0"));
  EXPECT_GT(sum, counted(ops, "run 0") / 4);
  EXPECT_EQ(counted(ops, "load 0"), counted(counts, "load 0"));
  EXPECT_EQ(ops.find("unbalanced"), std::string::npos);
}

TEST_P(Runner, RefusesWithAReasonAndAnExitCode) {
  auto result = run_words({"missing.pte", "x.bin", "y"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.output.find("cannot read missing.pte"), std::string::npos) << result.output;
  result = run_words({"round.pte", "y"});
  EXPECT_EQ(result.exit_code, 2) << result.output;
  result = run_words({"round.pte", "round.pte", "y"});
  EXPECT_EQ(result.exit_code, 2) << result.output;
  const Result<Bytes> copy = formats::pte::write(copy_program());
  ASSERT_TRUE(copy.ok());
  write_file("copy.pte", *copy);
  result = run_words({"copy.pte", "x.bin", "y"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("status 7 "), std::string::npos) << result.output;
  EXPECT_NE(read_file("y.txt").find("status 7 "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Cores, Runner, testing::ValuesIn(kCores), [](const auto& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace thimble::firmware_test
