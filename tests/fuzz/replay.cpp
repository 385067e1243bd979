// Runs the targets on committed inputs and on seeded mutations of them.
//
//   fuzz_replay SOURCE_DIR COUNT [TARGET [SEED]]
//   fuzz_replay --list
//
// Inputs are those of tests/fuzz/corpus/<target>, and the files of at most 32 KiB that
// tests/fuzz/inputs.txt names. COUNT mutations for each target; SEED is that of the first one.
// Every second one keeps the form of the input (Target::mutate). Fails if a target accepts none of
// its inputs or, of more than 100 mutations, none, if fewer than 30 % of them pass the first checks
// of the format, or if it allocates more than 16 MiB plus 64 times the input. A crash and a run of
// more than 10 s print the command that repeats them.

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <sys/time.h>
#include <unistd.h>

#include "tests/fuzz/heap_peak.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/read_file.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsMax = 10;          // of processor time
constexpr unsigned kElapsedSecondsMax = 300;  // other processes may need the machine meanwhile
constexpr uintmax_t kInputBytesMax = 32 << 10;

char repeat[1024];  // how to repeat the present run; a signal handler must not allocate

void set_repeat(const std::string& command) {
  std::snprintf(repeat, sizeof repeat, "%s", command.c_str());
}

[[noreturn]] void report_signal(int) {
  constexpr std::string_view kText = "\ncrash, or a run of more than 10 s; repeat: ";
  [[maybe_unused]] auto written = write(2, kText.data(), kText.size());
  written = write(2, repeat, std::strlen(repeat));
  written = write(2, "\n", 1);
  _exit(1);
}

/// Installs report_signal() with a stack of its own, because a deep input may exhaust the stack.
void catch_signals() {
  static char stack[1 << 16];
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = report_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int each : {SIGSEGV, SIGABRT, SIGALRM, SIGPROF, SIGFPE, SIGILL, SIGBUS}) {
    sigaction(each, &action, nullptr);
  }
}

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

struct Counts {
  int inputs = 0, accepted_inputs = 0, accepted = 0, failures = 0;
  int outer = 0;  // mutations that pass the first checks of the format
};

void limit_time(unsigned processor_seconds, unsigned elapsed_seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = processor_seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(elapsed_seconds);
}

void run_once(const Target& target, const Bytes& bytes, int& accepted, int& failures) {
  const size_t limit = (size_t{16} << 20) + 64 * bytes.size();
  const testing::HeapPeak peak;
  limit_time(kSecondsMax, kElapsedSecondsMax);
  if (target.run(bytes) == Outcome::kAccepted) ++accepted;
  limit_time(0, 0);
  if (peak.bytes() <= limit) return;
  std::printf("%s: %zu B allocated for %zu B, at most %zu expected; repeat: %s\n",
              target.name.c_str(), peak.bytes(), bytes.size(), limit, repeat);
  ++failures;
}

bool replay(const Target& target, const fs::path& source, int count, uint64_t seed) {
  Counts counts;
  std::vector<Bytes> inputs;
  for (const fs::path& path : inputs_of(source, target.name)) {
    set_repeat("fuzz_replay " + source.string() + " 0 " + target.name + "  # " + path.string());
    inputs.push_back(read_file(path));
    run_once(target, inputs.back(), counts.accepted_inputs, counts.failures);
  }
  counts.inputs = static_cast<int>(inputs.size());
  for (int i = 0; i < count && !inputs.empty(); ++i) {
    const uint64_t own_seed = seed + static_cast<uint64_t>(i);
    set_repeat("fuzz_replay " + source.string() + " 1 " + target.name + " " +
               std::to_string(own_seed));
    std::mt19937_64 random(own_seed);
    const Bytes& first = inputs[random() % inputs.size()];
    const Bytes& second = inputs[random() % inputs.size()];
    const Bytes changed =
        own_seed % 2 == 0 ? mutate(first, second, random) : target.mutate(first, second, random);
    counts.outer += target.outer == nullptr || target.outer(changed) ? 1 : 0;
    run_once(target, changed, counts.accepted, counts.failures);
  }
  const std::string passed = target.outer == nullptr ? "-" : std::to_string(counts.outer);
  std::printf(
      "%-18s %3d inputs, %3d accepted; %6d mutations, %6s pass the first checks, %6d accepted\n",
      target.name.c_str(), counts.inputs, counts.accepted_inputs, count, passed.c_str(),
      counts.accepted);
  if (counts.accepted_inputs == 0) {
    std::printf("%s: no input in %s is accepted\n", target.name.c_str(), source.string().c_str());
    return false;
  }
  if (count > 100 && counts.accepted == 0) {
    std::printf("%s: no mutation is accepted\n", target.name.c_str());
    return false;
  }
  if (count > 100 && 10 * counts.outer < 3 * count) {
    std::printf("%s: %d of %d mutations pass the first checks, at least 30 %% expected\n",
                target.name.c_str(), counts.outer, count);
    return false;
  }
  return counts.failures == 0;
}

}  // namespace
}  // namespace thimble::fuzz

int main(int argc, char** argv) {
  using namespace thimble::fuzz;
  int count = 0;
  uint64_t seed = 1;
  const auto number = [](const char* text, auto& value) {
    const std::string_view word = text;
    return std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc();
  };
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    for (const Target& target : targets()) std::printf("%s\n", target.name.c_str());
    return 0;
  }
  if (argc < 3 || argc > 5 || !number(argv[2], count) || (argc == 5 && !number(argv[4], seed))) {
    std::fputs("usage: fuzz_replay SOURCE_DIR COUNT [TARGET [SEED]]\n", stderr);
    return 2;
  }
  catch_signals();
  bool passed = true;
  for (const Target& target : targets()) {
    if (argc > 3 && target.name != argv[3]) continue;
    passed = replay(target, argv[1], count, seed) && passed;
  }
  return passed ? 0 : 1;
}
