// SPDX-License-Identifier: Apache-2.0
// Files with NPU calls and changed bytes: thousands of random bit flips, and truncation at every
// length. Each must give a status and do no harm: nothing outside the arena is written, the file is
// not changed, and the address sanitizer finds no read after the end of either.

#include "delegates_support.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "formats/pte/write.h"

namespace thimble::runtime_test {
namespace {

constexpr size_t kMemoryMost = size_t{1} << 20;   // larger memories only make the test slower
constexpr uint64_t kMaxWork = uint64_t{1} << 26;  // a kernel of 65,536 rows would need minutes
constexpr size_t kFastBytes = size_t{16} << 10;
constexpr uint8_t kUntouched = 0xC3;
constexpr size_t kGuard = 256;

/// Loads the file and, if that succeeds, runs it. Returns true if the run completed.
bool load_and_run(const Bytes& bytes, const hostrun::EthosUNeeds& needs) {
  hostrun::EthosUDevice npu(needs);
  const AlignedBytes file{ByteView(bytes)};
  thimble_needs wanted = {};
  const thimble_kernels* const kernels = kernels_of(npu);
  const bool fits = thimble_size(file.data(), file.size(), kernels, &wanted) == 0 &&
                    wanted.arena_bytes + wanted.state_bytes < kMemoryMost;
  if (!fits) return false;
  // Guard bytes after the memory must not change; the allocator checks the bytes before it.
  const size_t memory_bytes = wanted.arena_bytes + wanted.state_bytes;
  const AlignedBytes memory(memory_bytes + kGuard);
  std::memset(memory.data(), kUntouched, memory.size());
  thimble_model model;
  EXPECT_EQ(thimble_init(&model, file.data(), file.size(), kernels, memory.data(), memory_bytes),
            0);
  npu.connect(file.data(), file.size(), true);
  npu.connect(memory.data(), wanted.arena_bytes, false);
  std::vector<AlignedBytes> inputs;
  bool ran = true;
  for (uint32_t i = 0; i < thimble_input_count(&model); ++i) {
    thimble_view view;
    EXPECT_EQ(thimble_input(&model, i, &view), 0);
    inputs.emplace_back(view.bytes);
    std::memset(inputs.back().data(), 1, view.bytes);
    ran = ran && thimble_set_input(&model, i, inputs.back().data(), view.bytes) == 0;
  }
  ran = ran && thimble_run(&model) == 0;
  EXPECT_TRUE(
      std::equal(bytes.begin(), bytes.end(), reinterpret_cast<const std::byte*>(file.data())))
      << "the file was written to";
  const uint8_t* const guard = memory.data() + memory_bytes;
  EXPECT_TRUE(std::all_of(guard, guard + kGuard, [](uint8_t b) { return b == kUntouched; }));
  return ran;
}

/// Memory needs of the unchanged file; a changed file gets no larger workspace.
hostrun::EthosUNeeds needs_of(const pte::Program& program, const std::string& name) {
  auto needs = hostrun::read_ethos_u_needs(program, name);
  EXPECT_TRUE(needs.ok() && needs->has_value());
  (*needs)->max_cost = kMaxWork;
  (*needs)->fast_bytes = std::min((*needs)->fast_bytes, kFastBytes);
  return **needs;
}

struct File {
  std::string name;
  Bytes bytes;
  hostrun::EthosUNeeds needs;
};

std::vector<File> files() {
  std::vector<File> all;
  for (const char* name : {"image_u55_128.pte", "image_u65_256.pte", "rows_u85_128.pte",
                           "rows_cop2_u85_512.pte", "pair_u55_64.pte", "island_u55_256.pte"}) {
    const pte::Program program = read_test_program(name);
    all.push_back({name, read_test_file(name), needs_of(program, name)});
  }
  return all;
}

/// Returns the byte range of a file's payloads: from the first block's name to the last one's end.
std::pair<size_t, size_t> payloads_in(const Bytes& bytes) {
  const std::string_view text = as_text(bytes);
  return {text.find("vela_bin_stream"), text.rfind("vela_end_stream") + 32};
}

TEST(DelegatesMutation, UnchangedFilesRun) {
  for (const File& file : files()) EXPECT_TRUE(load_and_run(file.bytes, file.needs)) << file.name;
}

/// Flips bits in payloads, mostly in headers, streams and tables; one flip in ten is anywhere.
TEST(DelegatesMutation, RandomBitFlipsAreSafe) {
  constexpr int kFlips = 10000;
  const std::vector<File> all = files();
  std::mt19937 random(20261121);
  int ran = 0;
  for (int i = 0; i < kFlips; ++i) {
    const File& file = all[random() % all.size()];
    Bytes bytes = file.bytes;
    auto [begin, end] = payloads_in(bytes);
    if (random() % 10 == 0) begin = 0, end = bytes.size();
    const auto flips = 1 + random() % 3;
    for (unsigned flip = 0; flip < flips; ++flip) {
      const size_t at = begin + random() % (end - begin);
      bytes[at] ^= static_cast<std::byte>(1U << (random() % 8));
    }
    ran += load_and_run(bytes, file.needs) ? 1 : 0;
    ASSERT_FALSE(testing::Test::HasFailure()) << file.name << ", mutation " << i;
  }
  // Weights and padding may have any value, so some files run; most commands may not.
  EXPECT_GT(ran, kFlips / 100);
  EXPECT_LT(ran, kFlips);
  std::printf("%d of %d mutations ran to the end\n", ran, kFlips);
}

TEST(DelegatesMutation, EveryTruncatedFileIsSafe) {
  for (const File& file : files()) {
    for (size_t bytes = 0; bytes < file.bytes.size(); ++bytes) {
      Bytes cut(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
      const auto [begin, end] = payloads_in(file.bytes);
      const bool ran = load_and_run(cut, file.needs);
      EXPECT_FALSE(ran && bytes < end) << file.name << " at " << bytes;
    }
  }
}

/// A truncated payload in a complete file.
TEST(DelegatesMutation, EveryTruncatedPayloadIsSafe) {
  pte::Program program = read_test_program("rows_u85_128.pte");
  const hostrun::EthosUNeeds needs = needs_of(program, "rows_u85_128.pte");
  const Bytes whole = program.delegate_blobs[0].bytes;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    program.delegate_blobs[0].bytes.assign(whole.begin(),
                                           whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_FALSE(load_and_run(written(program), needs)) << bytes;
  }
}

}  // namespace
}  // namespace thimble::runtime_test
