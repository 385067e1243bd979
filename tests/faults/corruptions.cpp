// Seeded corruptions of files of every format, read and run in this process. Built with the address
// and undefined-behavior sanitizers (-DTHIMBLE_SANITIZE=address,undefined), it finds each access
// outside of a file, an arena or an input.
//
//   corruptions SOURCE_DIR COUNT|--million [FORMAT|all [FIRST_SEED [SECONDS]]]
//
// COUNT corruptions for each format, or as many as SECONDS of processor time allow. Prints how many
// had which outcome. Fails if a call crashes, needs more than a second or more memory than 16 MiB
// plus 64 times the input (compressed members of archives count uncompressed), or if less than 30 %
// pass the outer check of the format. Prints the command that repeats a failure.

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/time.h>
#include <unistd.h>

#include "tests/faults/corrupted.h"
#include "tests/fuzz/heap_peak.h"

// Function of the sanitizers' runtime; null in a program without one.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace thimble::faults {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kInputBytesMax = 24 << 10;
constexpr double kSecondsMax = 1;
constexpr int kHangSeconds = 30;
constexpr uint64_t kMillion = 1'000'000;
constexpr size_t kOuterShare = 30;  // percent that must pass the outer check

char repeat[1024];  // how to repeat the present call; a signal handler must not allocate

void print_repeat() {
  constexpr std::string_view kText = "\ncrash, or a call without an end; repeat: ";
  [[maybe_unused]] auto written = write(2, kText.data(), kText.size());
  written = write(2, repeat, std::strlen(repeat));
  written = write(2, "\n", 1);
}

[[noreturn]] void report_signal(int) {
  print_repeat();
  _exit(1);
}

/// Installs report_signal() with a stack of its own, because a deep input may exhaust the stack.
void catch_signals() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print_repeat);
  static char stack[1 << 16];
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = report_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int each : {SIGSEGV, SIGABRT, SIGPROF, SIGFPE, SIGILL, SIGBUS}) {
    sigaction(each, &action, nullptr);
  }
}

/// Processor time, because other processes share the machine.
double seconds_used() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void set_hang_timer(int seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

std::vector<Input> inputs_of(const Format& format, const fs::path& source) {
  std::vector<fs::path> paths;
  for (const auto& [folder, suffix] : format.files) {
    for (const auto& entry : fs::directory_iterator(source / folder)) {
      if (entry.is_regular_file() && entry.path().string().ends_with(suffix) &&
          entry.file_size() <= kInputBytesMax) {
        paths.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(paths);
  std::vector<Input> inputs;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Input input;
    input.name = path.filename().string();
    const ByteView bytes = as_byte_view(text);
    input.bytes.assign(bytes.begin(), bytes.end());
    if (format.prepare != nullptr) format.prepare(input);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

struct Limits {
  uint64_t count = 0, first_seed = 1;
  double seconds = 0;  // 0: no limit
};

struct Counts {
  std::array<uint64_t, kOutcomes> outcomes = {};
  uint64_t all = 0, failures = 0;
  double longest_seconds = 0;
  size_t most_bytes = 0;
};

void run_one(const Format& format, const Bytes& bytes, const Input& original, Counts& counts) {
  const size_t inflated = format.inflated_bytes != nullptr ? format.inflated_bytes(bytes) : 0;
  const size_t bytes_max = (size_t{16} << 20) + 64 * (bytes.size() + inflated);
  const double start = seconds_used();
  const testing::HeapPeak peak;
  const Outcome outcome = format.run(bytes, original);
  const double seconds = seconds_used() - start;
  ++counts.outcomes[static_cast<size_t>(outcome)];
  ++counts.all;
  counts.longest_seconds = std::max(counts.longest_seconds, seconds);
  counts.most_bytes = std::max(counts.most_bytes, peak.bytes());
  if (seconds > kSecondsMax) {
    std::printf("%s: %.2f s; repeat: %s\n", format.name.c_str(), seconds, repeat);
    ++counts.failures;
  }
  if (peak.bytes() > bytes_max) {
    std::printf("%s: %zu B allocated for %zu B, at most %zu expected; repeat: %s\n",
                format.name.c_str(), peak.bytes(), bytes.size(), bytes_max, repeat);
    ++counts.failures;
  }
}

bool run_format(const Format& format, const std::string& source, const Limits& limits) {
  const std::vector<Input> inputs = inputs_of(format, source);
  if (inputs.empty()) {
    std::printf("%s: no inputs in %s\n", format.name.c_str(), source.c_str());
    return false;
  }
  // The undamaged files are valid; else the damage would not reach beyond the outer check.
  Counts valid;
  for (const Input& input : inputs) {
    std::snprintf(repeat, sizeof repeat, "corruptions %s 0 %s  # %s", source.c_str(),
                  format.name.c_str(), input.name.c_str());
    run_one(format, input.bytes, input, valid);
  }
  const uint64_t rejected = valid.outcomes[0] + valid.outcomes[1];
  if (rejected * 4 > inputs.size()) {
    std::printf(
        "%s: %zu of %zu undamaged files are rejected: tests/fuzz/make_corpus.py makes new ones\n",
        format.name.c_str(), static_cast<size_t>(rejected), inputs.size());
    return false;
  }
  Counts counts;
  const double start = seconds_used();
  for (uint64_t i = 0; i < limits.count; ++i) {
    if (limits.seconds > 0 && i % 16 == 0 && seconds_used() - start > limits.seconds) break;
    if (i % 256 == 0) set_hang_timer(kHangSeconds * 4);
    const uint64_t seed = limits.first_seed + i;
    std::snprintf(repeat, sizeof repeat, "corruptions %s 1 %s %llu", source.c_str(),
                  format.name.c_str(), static_cast<unsigned long long>(seed));
    Random random(seed);
    const Input& first = inputs[below(random, inputs.size())];
    const Input& second = inputs[below(random, inputs.size())];
    run_one(format, format.damage(first, second, random), first, counts);
    if (i % 100'000 == 99'999)
      std::fprintf(stderr, "%s: %zu\n", format.name.c_str(), size_t{i} + 1);
  }
  set_hang_timer(0);
  const auto& [outer, inside, accepted, ran] = counts.outcomes;
  std::printf("%-16s %8zu %8zu %8zu %8zu %8zu %7.0f s %7.3f s %9zu B\n", format.name.c_str(),
              size_t{counts.all}, size_t{outer}, size_t{inside}, size_t{accepted}, size_t{ran},
              seconds_used() - start, counts.longest_seconds, counts.most_bytes);
  std::fflush(stdout);
  if (counts.all >= 100 && (counts.all - outer) * 100 < counts.all * kOuterShare) {
    std::printf("%s: less than %zu %% pass the outer check\n", format.name.c_str(), kOuterShare);
    return false;
  }
  return counts.failures + valid.failures == 0;
}

}  // namespace
}  // namespace thimble::faults

int main(int argc, char** argv) {
  using namespace thimble::faults;
  Limits limits;
  uint64_t seconds = 0;
  const auto number = [](const char* text, auto& value) {
    const std::string_view word = text;
    return std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc();
  };
  const bool is_million = argc > 2 && std::strcmp(argv[2], "--million") == 0;
  if (is_million) limits.count = kMillion;
  if (argc < 3 || argc > 6 || (!is_million && !number(argv[2], limits.count)) ||
      (argc > 4 && !number(argv[4], limits.first_seed)) ||
      (argc > 5 && !number(argv[5], seconds))) {
    std::fputs(
        "usage: corruptions SOURCE_DIR COUNT|--million [FORMAT|all [FIRST_SEED [SECONDS]]]\n",
        stderr);
    return 2;
  }
  limits.seconds = static_cast<double>(seconds);
  catch_signals();
  std::printf("%-16s %8s %8s %8s %8s %8s %9s %9s %11s\n", "format", "all", "outer", "inside",
              "accepted", "ran", "time", "longest", "memory");
  bool passed = true, found = false;
  for (const Format& format : formats()) {
    if (argc > 3 && std::strcmp(argv[3], "all") != 0 && format.name != argv[3]) continue;
    found = true;
    passed = run_format(format, argv[1], limits) && passed;
  }
  if (!found) std::fprintf(stderr, "%s: no such format\n", argv[3]);
  return passed && found ? 0 : 1;
}
