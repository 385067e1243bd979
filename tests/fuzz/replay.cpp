// SPDX-License-Identifier: Apache-2.0
// Runs the targets on committed inputs and on seeded mutations of them.
//
//   fuzz_replay SOURCE_DIR COUNT [--first NUMBER] [TARGET...]
//   fuzz_replay SOURCE_DIR STEP --limits [TARGET...]
//   fuzz_replay --list
//
// Inputs are those of tests/fuzz/corpus/<target>, and the files of at most 64 KiB that
// tests/fuzz/inputs.txt names. COUNT mutations for each target: NUMBER (1 if absent) and the next
// ones. The number of a mutation is its seed, so a target, a number and COUNT 1 repeat it. Seven of
// eight keep the form of the input (Target::mutate). --limits makes every STEP-th change of those
// that limits.h describes.
//
// Prints a table in Markdown. Fails if a run crashes or exceeds a limit below; if a target rejects
// all its inputs, or accepts one that does not pass its first checks; and, of 100 mutations or
// more, if a target accepts none, or fewer than kPassingPercentMin pass its first checks.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "tests/fuzz/bounds.h"
#include "tests/fuzz/heap_peak.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/read_file.h"
#include "tests/fuzz/repeat_command.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kInputBytesMax = 64 << 10;
constexpr size_t kLimitsBytesMax = 3000;  // of an input that --limits changes

/// Returns the files of `folder` that end with `suffix`, sorted.
std::vector<fs::path> files_of(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool matches = entry.path().string().ends_with(suffix);
    if (matches && entry.file_size() <= kInputBytesMax) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Returns the inputs of a target. Lines of inputs.txt: target, folder, end of the file names.
std::vector<fs::path> inputs_of(const fs::path& source, const std::string& target) {
  std::vector<fs::path> files = files_of(source / "tests/fuzz/corpus" / target, "");
  std::ifstream table(source / "tests/fuzz/inputs.txt");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string name, folder, suffix;
    words >> name >> folder >> suffix;
    if (name == target)
      std::ranges::copy(files_of(source / folder, suffix), std::back_inserter(files));
  }
  return files;
}

class Replay {
 public:
  Replay(const Target& target, std::string source) : target_(target), source_(std::move(source)) {}

  /// Runs every input of at most kLimitsBytesMax bytes with each number as each limit of an integer
  /// type: the numbers of a text, or the aligned words of other bytes. Of all these changes every
  /// `step`-th is made. Returns true if nothing failed.
  bool run_limits(uint64_t step) {
    uint64_t number = 0, count = 0;
    const double start = seconds_used();
    counts_ = {};
    for (const fs::path& path : inputs_of(source_, target_.name)) {
      const Bytes input = read_file(path);
      if (input.size() > kLimitsBytesMax) continue;
      for_each_limit(input, [&](const Bytes& changed, size_t at, const std::string& value) {
        if (number++ % step != 0) return;
        describe(step,
                 "--limits # " + path.string() + ", byte " + std::to_string(at) + " = " + value);
        count_outcome(target_.repair == nullptr ? changed : target_.repair(changed));
        ++count;
      });
    }
    stop_timers();
    describe(step, "--limits");
    if (count == counts_.rejected_first) fail("no change passes the first checks");
    print(count, seconds_used() - start);
    return !failed_;
  }

  /// Runs all inputs, then `count` mutations. Prints a row of the table and returns true if nothing
  /// failed.
  bool run(uint64_t count, uint64_t first) {
    std::vector<Bytes> inputs;
    uint64_t accepted = 0;
    for (const fs::path& path : inputs_of(source_, target_.name)) {
      describe(0, "# " + path.string());
      const Bytes& input = inputs.emplace_back(read_file(path));
      if (run_once(input) == Outcome::kRejected) continue;
      ++accepted;
      if (!passes_first_checks(input)) fail("the accepted input does not pass the first checks");
    }
    describe(0, "");
    if (accepted == 0) fail("no input is accepted");
    counts_ = {};
    const double start = seconds_used();
    for (uint64_t i = 0; i < count && !inputs.empty(); ++i) {
      describe(1, "--first " + std::to_string(first + i));
      run_mutation(inputs, first + i);
    }
    stop_timers();
    describe(count, "--first " + std::to_string(first));
    print(count, seconds_used() - start);
    if (count < 100) return !failed_;
    if (counts_.accepted + counts_.executed == 0) fail("no mutation is accepted");
    if ((count - counts_.rejected_first) * 100 < count * kPassingPercentMin) {
      fail("less than " + std::to_string(kPassingPercentMin) + " % pass the first checks");
    }
    return !failed_;
  }

 private:
  struct Counts {
    uint64_t rejected_first = 0, rejected_later = 0, accepted = 0, executed = 0;
    double longest_seconds = 0;
    size_t most_bytes = 0;
  };

  /// Stores the command that repeats what runs next.
  void describe(uint64_t count, const std::string& more) {
    set_repeat_command("fuzz_replay " + source_ + " " + std::to_string(count) + " " + target_.name +
                       " " + more);
  }

  void fail(const std::string& what) {
    std::printf("%s: %s; repeat: %s\n", target_.name.c_str(), what.c_str(), repeat_command());
    failed_ = true;
  }

  [[nodiscard]] bool passes_first_checks(ByteView bytes) const {
    return target_.passes_first_checks == nullptr || target_.passes_first_checks(bytes);
  }

  void run_mutation(const std::vector<Bytes>& inputs, uint64_t number) {
    Random random(number);
    const Bytes& input = inputs[below(random, inputs.size())];
    const Bytes& other = inputs[below(random, inputs.size())];
    const auto change = random() % 8 == 0 ? mutate : target_.mutate;
    count_outcome(change(input, other, random));
  }

  void count_outcome(const Bytes& bytes) {
    switch (run_once(bytes)) {
      case Outcome::kRejected:
        ++(passes_first_checks(bytes) ? counts_.rejected_later : counts_.rejected_first);
        return;
      case Outcome::kAccepted:
        ++counts_.accepted;
        return;
      case Outcome::kExecuted:
        ++counts_.executed;
    }
  }

  Outcome run_once(const Bytes& bytes) {
    const size_t inflated = target_.inflated_bytes == nullptr ? 0 : target_.inflated_bytes(bytes);
    const size_t bytes_max = kBytesMax + kBytesMaxPerByte * (bytes.size() + inflated);
    start_timers();
    const double start = seconds_used();
    const testing::HeapPeak peak;
    const Outcome outcome = target_.run(bytes);
    const double seconds = seconds_used() - start;
    counts_.longest_seconds = std::max(counts_.longest_seconds, seconds);
    counts_.most_bytes = std::max(counts_.most_bytes, peak.bytes());
    if (seconds > kSecondsMax) {
      fail(std::to_string(seconds) + " s, at most " + std::to_string(kSecondsMax) + " s expected");
    }
    if (peak.bytes() > bytes_max) {
      fail(std::to_string(peak.bytes()) + " B allocated for " + std::to_string(bytes.size()) +
           " B, at most " + std::to_string(bytes_max) + " expected");
    }
    return outcome;
  }

  void print(uint64_t count, double seconds) const {
    std::string rejected = "-", passed = "-";
    if (target_.passes_first_checks != nullptr && count != 0) {
      rejected = std::to_string(counts_.rejected_first);
      passed = std::to_string((count - counts_.rejected_first) * 100 / count) + " %";
    }
    std::printf("| `%s` | %llu | %s | %s | %llu | %llu | %llu | %.1f | %.3f | %zu |\n",
                target_.name.c_str(), static_cast<unsigned long long>(count), passed.c_str(),
                rejected.c_str(), static_cast<unsigned long long>(counts_.rejected_later),
                static_cast<unsigned long long>(counts_.accepted),
                static_cast<unsigned long long>(counts_.executed), seconds, counts_.longest_seconds,
                counts_.most_bytes);
    std::fflush(stdout);
  }

  const Target& target_;
  std::string source_;
  Counts counts_;
  bool failed_ = false;
};

constexpr const char* kHeading =
    "| target | mutations | pass the first checks | rejected by them | rejected later | accepted "
    "| executed | CPU s | longest s | most bytes |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

}  // namespace
}  // namespace thimble::fuzz

int main(int argc, char** argv) {
  using namespace thimble::fuzz;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{"--list"}) {
    for (const Target& target : targets()) std::printf("%s\n", target.name.c_str());
    return 0;
  }
  const auto number = [](const std::string& word, uint64_t& value) {
    return std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc();
  };
  uint64_t count = 0, first = 1;
  bool limits = false;
  std::vector<const Target*> chosen;
  bool good = words.size() >= 2 && number(words[1], count);
  for (size_t i = 2; good && i < words.size(); ++i) {
    if (words[i] == "--first") {
      good = ++i < words.size() && number(words[i], first);
    } else if (words[i] == "--limits") {
      limits = true;
    } else {
      chosen.push_back(find_target(words[i]));
      good = chosen.back() != nullptr;
    }
  }
  if (!good || (limits && count == 0)) {
    std::fputs(
        "usage: fuzz_replay SOURCE_DIR COUNT [--first NUMBER] [TARGET...]\n"
        "       fuzz_replay SOURCE_DIR STEP --limits [TARGET...]\n",
        stderr);
    return 2;
  }
  if (chosen.empty()) {
    for (const Target& target : targets()) chosen.push_back(&target);
  }
  catch_signals();
  std::fputs(kHeading, stdout);
  bool passed = true;
  for (const Target* target : chosen) {
    Replay replay(*target, words[0]);
    passed = (limits ? replay.run_limits(count) : replay.run(count, first)) && passed;
  }
  return passed ? 0 : 1;
}
