// SPDX-License-Identifier: Apache-2.0
// Lists with changed bytes: ten thousand random changes and truncations. Each gives a status, or a
// run that writes nothing outside its memories; the address sanitizer also detects reads outside
// them.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "neutron_sample.h"

namespace thimble::neutron_test {
namespace {

constexpr uint32_t kMemoryMost = 1U << 20;  // larger memories only make the test slower

/// Results do not depend on the initial content of the memories.
TEST(NeutronMutation, ResultsDoNotDependOnInitialMemory) {
  const List list = sample_list();
  const Bytes program = list.program();
  uint32_t kernel = 0;
  const Status status = check_bytes(program, list.weights, &kernel);
  ASSERT_EQ(status, Status::kOk) << neutron::status_text(status) << ", kernel " << kernel;
  ASSERT_EQ(list.kernels.size(), size_t{sample::kKernels});
  const auto run = [&](uint8_t fill_byte) {
    return run_bytes(program, list.weights, sample_inputs(list), Prefetch::kByHooks, fill_byte);
  };
  EXPECT_TRUE(run(0x00).intact);
  EXPECT_EQ(run(0x00).outputs, run(0xA7).outputs);
}

bool is_small(const neutron::Program& list) {
  const neutron::Header header = list.header();
  uint64_t bytes = uint64_t{header.scratch_bytes} + header.prefetch_bytes;
  for (uint32_t i = 0; i < header.input_count + header.output_count; ++i) {
    bytes += list.input(i).bytes;
  }
  return bytes <= kMemoryMost;
}

TEST(NeutronMutation, RandomlyChangedListsAreSafe) {
  constexpr int kChanges = 10000;
  const List list = sample_list();
  const Bytes good = list.program();
  std::mt19937 random(20261122);
  std::map<Status, int> seen;
  for (int i = 0; i < kChanges; ++i) {
    Bytes program = good;
    Bytes weights = list.weights;
    if (random() % 20 == 0) program.resize(random() % program.size());
    if (random() % 20 == 0) weights.resize(random() % weights.size());
    Bytes& changed = random() % 10 == 0 && !weights.empty() ? weights : program;
    for (auto left = 1 + random() % 3; left > 0 && !changed.empty(); --left) {
      uint8_t& byte = changed[random() % changed.size()];
      byte = random() % 2 == 0 ? static_cast<uint8_t>(byte ^ (1U << random() % 8))
                               : static_cast<uint8_t>(random());
    }
    // A wrong hash would refuse nearly everything; an attacker can compute a correct one.
    if (random() % 20 != 0) rehash(program, weights);
    const Status status = check_bytes(program, weights);
    ++seen[status];
    const neutron::Program read(program.data());
    if (status != Status::kOk || !is_small(read)) continue;
    std::vector<Bytes> inputs;
    for (uint32_t k = 0; k < read.header().input_count; ++k) {
      inputs.emplace_back(read.input(k).bytes, uint8_t{0x31});
    }
    ASSERT_TRUE(run_bytes(program, weights, inputs).intact) << "change " << i;
    ASSERT_FALSE(testing::Test::HasFailure()) << "change " << i;
  }
  // Some changes have no effect on validity; the others are found by each part of the check.
  EXPECT_GT(seen[Status::kOk], kChanges / 10);
  for (const Status status :
       {Status::kTruncated, Status::kNoProgram, Status::kBadVersion, Status::kBadHeader,
        Status::kBadIo, Status::kBadView, Status::kBadKernel, Status::kBadScale,
        Status::kBadOverlap, Status::kBadPrefetch, Status::kBadHash}) {
    EXPECT_GT(seen[status], 0) << neutron::status_text(status);
  }
}

}  // namespace
}  // namespace thimble::neutron_test
