// SPDX-License-Identifier: Apache-2.0
// Mutations of models on emulated boards with the memory protection unit enabled
// (firmware/apps/memory_protection): no access outside of the file, the inputs and the memory that
// the runtime was given. A sample here; THIMBLE_MUTATION_COUNT=10000 sets the number of mutations
// of each model, and THIMBLE_MUTATION_SEED the first seed.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../unit/test_files.h"
#include "abi/status.h"
#include "firmware/apps/memory_protection/stage.h"
#include "support.h"
#include "tests/fuzz/targets.h"

namespace thimble::firmware_test {
namespace {

struct Board {
  Core core;
  const char* files[3];  // one native file for its core, and stock files
};
constexpr Board kBoards[] = {
    {{"cortex-m4", "mps2-an386", Isa::kV7em},
     {"tests/fuzz/corpus/pte/hello_sin_cortex-m4.pte", "tests/data/executorch/many_ways.pte",
      "tests/data/executorch/separable.pte"}},
    {{"cortex-m55", "mps3-an547", Isa::kMve},
     {"tests/fuzz/corpus/pte/hello_sin_cortex-m55.pte", "tests/data/executorch/attention.pte",
      "tests/data/executorch/residual.pte"}},
};

using namespace firmware;  // Stage

/// Returns true for the statuses of the first checks, of identifier and length.
bool is_first_check(uint8_t status) {
  return status == static_cast<uint8_t>(abi::Status::kNotAProgram) ||
         status == static_cast<uint8_t>(abi::Status::kTruncated);
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

base::ProcessResult run_image(const Board& board, const std::string& what, uint64_t count) {
  QemuRun options = {image("memory_protection", board.core),
                     board.core.machine,
                     {"memory_protection", "model.pte", what, std::to_string(count), "results"},
                     ""};
  options.time_limit = std::chrono::seconds(60 + count / 20);
  return run(options);
}

void use_model(const char* path) {
  write_file("model.pte", test::read_bytes(test::source_folder() / path));
}

TEST(MemoryProtection, StopsEachAccessOutside) {
  for (const Board& board : kBoards) {
    use_model(board.files[0]);
    const auto fine = run_image(board, "none", 0);
    EXPECT_EQ(fine.exit_code, 0) << fine.output;
    EXPECT_EQ(read_file("results"), std::string({kRan, 0})) << board.core.name;
    for (const char* access :
         {"write-after-memory", "write-before-memory", "write-file", "write-input",
          "write-variable", "read-after-file", "read-elsewhere"}) {
      const auto result = run_image(board, access, 0);
      EXPECT_EQ(result.exit_code, 3) << board.core.name << " " << access << ": " << result.output;
      // MMFSR: a data access violation at a valid address.
      EXPECT_NE(result.output.find("fault: HardFault cfsr 0x00000082"), std::string::npos)
          << result.output;
    }
  }
}

/// A region at the end of the stack that cannot be accessed, as a product has it whose stack is not
/// at the start of RAM.
TEST(MemoryProtection, GuardRegionStopsStackOverflow) {
  for (const Board& board : kBoards) {
    use_model(board.files[0]);
    const auto result = run_image(board, "stack-overflow", 0);
    EXPECT_EQ(result.exit_code, 4) << board.core.name << ": " << result.output;
    // MMFSR: a data access violation, or one while the core pushed the registers of the exception.
    constexpr unsigned kViolations = 0x12;
    const std::string before = "fault: stack overflow cfsr 0x";
    const size_t at = result.output.find(before);
    ASSERT_NE(at, std::string::npos) << result.output;
    const auto status = std::stoul(result.output.substr(at + before.size(), 8), nullptr, 16);
    EXPECT_NE(status & kViolations, 0U) << result.output;
  }
}

/// A fault handler leaves a run, and the application continues with an empty stack.
TEST(MemoryProtection, ModelRunsAfterFaultAndReset) {
  for (const Board& board : kBoards) {
    use_model(board.files[0]);
    for (const char* fault : {"input-fault", "stack-fault"}) {
      const auto result = run_image(board, fault, 0);
      EXPECT_EQ(result.exit_code, 0) << board.core.name << " " << fault << ": " << result.output;
      const std::string results = read_file("results");
      ASSERT_EQ(results.size(), sizeof(Recovery)) << board.core.name << " " << fault;
      Recovery recovery;
      std::memcpy(&recovery, results.data(), sizeof recovery);
      // MMFSR: a data access violation, or one while the core pushed the registers of the
      // exception.
      EXPECT_NE(recovery.fault_status & 0x12, 0U) << board.core.name << " " << fault;
      EXPECT_EQ(recovery.busy_status, static_cast<uint8_t>(abi::Status::kBusy))
          << board.core.name << " " << fault << ": " << result.output;
      EXPECT_EQ(recovery.reset_status, 0);
      EXPECT_EQ(recovery.run_status, 0);
      EXPECT_EQ(recovery.has_same_outputs, 1);
    }
  }
}

TEST(MemoryProtection, MutationsStayInside) {
  const uint64_t count = from_environment("THIMBLE_MUTATION_COUNT", 150);
  const uint64_t first = from_environment("THIMBLE_MUTATION_SEED", 1);
  for (const Board& board : kBoards) {
    for (const char* file : board.files) {
      use_model(file);
      const auto result = run_image(board, std::to_string(first), count);
      const std::string results = read_file("results");
      ASSERT_EQ(result.exit_code, 0) << board.core.name << " " << file << ", seed "
                                     << first + results.size() / 2 << ": " << result.output;
      ASSERT_EQ(results.size(), 2 * count);
      std::array<size_t, kStages> stages = {};
      size_t rejected_first = 0;
      for (size_t i = 0; i < results.size(); i += 2) {
        const auto stage = static_cast<uint8_t>(results[i]);
        const auto status = static_cast<uint8_t>(results[i + 1]);
        ASSERT_LT(stage, kStages);
        ++stages[stage];
        if (stage == kRefused && is_first_check(status)) ++rejected_first;
      }
      std::printf(
          "%s %s: %zu mutations, %zu rejected by the first checks, %zu later, %zu too large, "
          "%zu input refused, %zu run failed, %zu ran\n",
          board.core.name, file, static_cast<size_t>(count), rejected_first,
          stages[kRefused] - rejected_first, stages[kTooLarge], stages[kInputRefused],
          stages[kRunFailed], stages[kRan]);
      EXPECT_GE((count - rejected_first) * 100, count * fuzz::kPassingPercentMin) << file;
      EXPECT_GT(stages[kRefused], rejected_first) << file << ": none reached the later checks";
      EXPECT_GT(stages[kRan], 0U) << file;
    }
  }
}

}  // namespace
}  // namespace thimble::firmware_test
