// SPDX-License-Identifier: Apache-2.0
// Mutated .pt2 files. Each mutation changes the JSON, configs or payloads of an archive that
// PyTorch wrote, and packs it with correct CRCs. Many mutations still parse, so that the later
// parts of the reader run too. Required: no crash, no sanitizer report, no large allocation; the
// result is an error or a program.
//
// A failure prints the command that repeats it, in this form:
//   THIMBLE_FUZZ_SEED=1234 THIMBLE_FUZZ_COUNT=1 pt2_mutation_test

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/fuzz/heap_peak.h"
#include "tests/fuzz/mutate_json.h"
#include "tests/fuzz/pt2_stages.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::formats {
namespace {

using fuzz::below;
using fuzz::from_environment;
using fuzz::mutate_json;
using fuzz::mutate_string;
using fuzz::Random;
using fuzz::to_text;
using testing::Pt2Parts;

// --- the code under test -------------------------------------------------------------------------

/// Consumers of one archive, in the order of the pipeline. Add later stages here.
using Consumer = std::function<void(const Bytes& archive)>;

void read_everything(const Bytes& archive) {
  const auto program = pt2::read(archive, "mutation.pt2");
  if (!program) {
    ASSERT_FALSE(program.error().message.empty());
    return;
  }
  for (const auto& [fqn, payload] : program->weights.payloads()) {
    const auto tensor = program->weights.gather_finite(fqn);
    if (tensor) {
      ASSERT_EQ(tensor->sizes.size(), payload.meta.sizes.size());
    }
  }
}

const std::vector<Consumer>& consumers() {
  static const std::vector<Consumer> all = {read_everything, fuzz::import_and_clean};
  return all;
}

/// The limit is stricter than that of docs/faults.md: 16 MiB plus eight times the archive, and once
/// more for a consumer's copy, because the archive is not in a file.
void consume(const Bytes& archive) {
  const size_t limit = (size_t{16} << 20) + 9 * archive.size();
  for (const Consumer& consumer : consumers()) {
    const thimble::testing::HeapPeak peak;
    consumer(archive);
    ASSERT_LE(peak.bytes(), limit);
  }
}

// --- repeating a failure -------------------------------------------------------------------------

const char* running_test = "";
uint64_t running_seed = 0;

void print_command() {
  std::fprintf(stderr,
               "repeat: THIMBLE_FUZZ_SEED=%llu THIMBLE_FUZZ_COUNT=1 pt2_mutation_test "
               "--gtest_filter=%s\n",
               static_cast<unsigned long long>(running_seed), running_test);
}

extern "C" void print_command_and_die(int signal_number) {
  print_command();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

/// Calls `mutate(random, i)` for consecutive seeds and consumes the returned archives.
void run(const char* test, uint64_t count,
         const std::function<Bytes(Random& random, uint64_t i)>& mutate) {
  std::signal(SIGABRT, print_command_and_die);
  running_test = test;
  const uint64_t first = from_environment("THIMBLE_FUZZ_SEED", 1);
  count = from_environment("THIMBLE_FUZZ_COUNT", count);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    running_seed = seed;
    Random random(seed);
    consume(mutate(random, seed));
    if (::testing::Test::HasFatalFailure()) {
      print_command();
      return;
    }
  }
}

// --- mutations of the other members --------------------------------------------------------------

void mutate_payload(Bytes& bytes, Random& random) {
  switch (below(random, 4)) {
    case 0:
      bytes.resize(below(random, bytes.size() + 1));
      break;
    case 1:
      bytes.resize(bytes.size() + below(random, 100));
      break;
    case 2:
      std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
      break;
    default:
      if (!bytes.empty()) bytes[below(random, bytes.size())] ^= static_cast<std::byte>(random());
      break;
  }
}

void mutate_members(Pt2Parts& parts, Random& random) {
  auto member = parts.others.begin();
  std::advance(member, static_cast<long>(below(random, parts.others.size())));
  const size_t choice = below(random, 8);
  if (choice == 0) {
    parts.others.erase(member);
  } else if (choice == 1) {
    std::string name = member->first;
    Bytes bytes = std::move(member->second);
    parts.others.erase(member);
    mutate_string(name, random);
    parts.others[name] = std::move(bytes);
  } else {
    mutate_payload(member->second, random);
  }
}

Bytes mutate(Pt2Parts parts, Random& random) {
  const size_t count = 1 + below(random, 3);
  for (size_t i = 0; i < count; ++i) {
    switch (below(random, 10)) {
      case 0:
        mutate_members(parts, random);
        break;
      case 1:
        mutate_json(parts.constants, random);
        break;
      case 2:
      case 3:
        mutate_json(parts.weights, random);
        break;
      default:
        mutate_json(parts.model, random);
        break;
    }
  }
  return parts.pack_texts(to_text(parts.model, random), to_text(parts.weights, random),
                          to_text(parts.constants, random));
}

// --- fixtures ------------------------------------------------------------------------------------

/// Small archives keep mutations fast; every seventh archive gives enough variety.
const std::vector<Pt2Parts>& fixtures() {
  static const std::vector<Pt2Parts> all = [] {
    constexpr uintmax_t kFileBytesMax = 48 * 1024;
    std::vector<std::filesystem::path> paths;
    const std::filesystem::path folder = test::source_folder() / "tests" / "data" / "pt2";
    if (std::filesystem::exists(folder)) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".pt2" && entry.file_size() < kFileBytesMax) {
          paths.push_back(entry.path());
        }
      }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Pt2Parts> parts = {testing::small_pt2()};
    for (size_t i = 0; i < paths.size(); i += 7) parts.push_back(testing::load_pt2(paths[i]));
    return parts;
  }();
  return all;
}

TEST(Pt2Mutation, UnchangedFixturesAreRead) {
  for (const Pt2Parts& parts : fixtures()) {
    const Bytes archive = parts.pack();
    const auto program = pt2::read(archive, "fixture.pt2");
    ASSERT_TRUE(program) << program.error().message;
    consume(archive);
  }
}

/// Returns about `bytes_min` bytes of text: `open`, then `item` separated by commas, then `close`.
std::string repeated(std::string_view open, std::string_view item, std::string_view close,
                     size_t bytes_min) {
  std::string text(open);
  while (text.size() < bytes_min) {
    text += item;
    text += ',';
  }
  text.back() = ' ';
  return text + std::string(close);
}

constexpr size_t kTextBytes = size_t{12} << 20;

/// Large texts of the JSON constructs that need the most memory per character in the reader.
TEST(Pt2Mutation, MemoryIsProportionalToArchive) {
  const Pt2Parts parts = testing::small_pt2();
  const std::string model = parts.model.dump();
  const auto with = [&](std::string_view anchor, std::string_view item) {
    const size_t at = model.find(anchor);
    EXPECT_NE(at, std::string::npos) << anchor;
    const std::string head = model.substr(0, at + anchor.size());
    return repeated(head, item, model.substr(at + anchor.size()), kTextBytes);
  };
  const std::string texts[] = {
      with("\"nodes\":[", "{}"),
      with("\"nodes\":[", R"({"inputs":[],"outputs":[],"target":"a","metadata":{}})"),
      with("\"nodes\":[", "[]"),
      with("\"nodes\":[", "1"),
      with("\"outputs\":[", R"({"as_int":1})"),
      with("\"inputs\":[", R"({"as_int":1})"),
      with("\"inputs\":[", R"({"a":1})"),
      with("\"sizes\":[", R"({"as_int":1})"),
      with("\"input_specs\":[", R"({"token":{}})"),
      repeated("[", "\"\"", "]", kTextBytes),
      repeated("[", "1.5", "]", kTextBytes),
      repeated("[", "9223372036854775807", "]", kTextBytes),
      repeated("{", "\"\":1", "}", kTextBytes),
      std::string(kTextBytes, '['),
      "\"" + std::string(kTextBytes, 'a') + "\"",
  };
  for (const std::string& text : texts) {
    const Bytes archive = parts.pack_texts(text, parts.weights.dump(), parts.constants.dump());
    const thimble::testing::HeapPeak peak;
    read_everything(archive);
    // The constant is far smaller than the promised 16 MiB, so that the factor is tested.
    EXPECT_LE(peak.bytes(), (size_t{2} << 20) + 9 * archive.size())
        << text.substr(text.size() / 2, 60);
  }
}

TEST(Pt2Mutation, ChangedMembersAreSafe) {
  run("Pt2Mutation.ChangedMembersAreSafe", 10'000,
      [](Random& random, uint64_t i) { return mutate(fixtures()[i % fixtures().size()], random); });
}

TEST(Pt2Mutation, ChangedArchiveBytesAreSafe) {
  run("Pt2Mutation.ChangedArchiveBytesAreSafe", 1'000, [](Random& random, uint64_t i) {
    Bytes archive = fixtures()[i % fixtures().size()].pack();
    const size_t count = 1 + below(random, 8);
    for (size_t flip = 0; flip < count; ++flip) {
      // The zip directory at the end is small and everything depends on it.
      const size_t window =
          below(random, 2) ? archive.size() : std::min<size_t>(archive.size(), 900);
      archive[archive.size() - 1 - below(random, window)] ^=
          static_cast<std::byte>(1U << below(random, 8));
    }
    return archive;
  });
}

}  // namespace
}  // namespace thimble::formats

// Makes sanitizers stop with abort(), so that the repeat command is printed after their report.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:handle_abort=0";
}
extern "C" const char* __ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}
