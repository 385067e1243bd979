// SPDX-License-Identifier: Apache-2.0
// Every kind of integer of a model.json becomes a limit of its type. A kind is an argument of an
// operator, of which kPlacesMax places are changed, or a field outside of nodes, such as a stride,
// of which one place of each archive is changed: archives have different operators. Required: no
// crash, no sanitizer report, a second of processor time and the memory that docs/faults.md states.
//
// A failure prints the command that repeats it.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/fuzz/heap_peak.h"
#include "tests/fuzz/pt2_stages.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::fuzz {
namespace {

using formats::testing::Pt2Parts;
using nlohmann::json;

constexpr int kPlacesMax = 3;
constexpr int64_t kValues[] = {INT64_MIN, INT64_MAX, INT32_MAX, 100'000, 0, -1};
constexpr uintmax_t kFileBytesMax = 32 << 10;

struct Place {
  size_t archive = 0;
  json::json_pointer at;
};

class Places {
 public:
  void add_archive(size_t archive, const json& model) {
    archive_ = archive;
    fields_.clear();
    visit(model, json::json_pointer(), "", "");
  }
  std::vector<Place> all;

 private:
  /// `owner` is the operator and the argument, empty outside of nodes. `key` has the keys of the
  /// two innermost objects.
  void visit(const json& value, const json::json_pointer& at, std::string owner, std::string key) {
    if (value.is_number_integer()) {
      int& count = owner.empty() ? fields_[key] : counts_[owner + " " + key];
      if (++count <= (owner.empty() ? 1 : kPlacesMax)) all.push_back({archive_, at});
    } else if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) visit(value[i], at / i, owner, key);
    } else if (value.is_object()) {
      const auto target = value.find("target"), name = value.find("name");
      if (target != value.end() && target->is_string()) owner = target->get<std::string>();
      if (name != value.end() && name->is_string() && value.contains("arg")) {
        owner += " " + name->get<std::string>();
      }
      for (const auto& [child_key, child] : value.items()) {
        visit(child, at / child_key, owner, key.substr(key.rfind(' ') + 1) + " " + child_key);
      }
    }
  }

  size_t archive_ = 0;
  std::map<std::string, int> counts_;  // of all archives
  std::map<std::string, int> fields_;  // of this archive
};

std::vector<std::filesystem::path> archives() {
  std::vector<std::filesystem::path> paths;
  const auto folder = test::source_folder() / "tests" / "data" / "pt2";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool matches = entry.path().extension() == ".pt2";
    if (matches && entry.file_size() < kFileBytesMax) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

char running[1024];

extern "C" void print_change_and_die(int signal_number) {
  std::fputs(running, stderr);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

TEST(Pt2Integers, LimitsAreSafe) {
  for (const int each : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(each, print_change_and_die);
  const std::vector<std::filesystem::path> paths = archives();
  ASSERT_FALSE(paths.empty());
  std::vector<Pt2Parts> parts;
  Places places;
  for (const auto& path : paths) {
    parts.push_back(formats::testing::load_pt2(path));
    places.add_archive(parts.size() - 1, parts.back().model);
  }
  const size_t total = places.all.size() * std::size(kValues);
  const size_t first = from_environment("THIMBLE_FUZZ_SEED", 0);
  const size_t count = from_environment("THIMBLE_FUZZ_COUNT", total);
  for (size_t i = first; i < std::min(total, first + count); ++i) {
    const Place& place = places.all[i / std::size(kValues)];
    const int64_t value = kValues[i % std::size(kValues)];
    std::snprintf(running, sizeof running,
                  "%s%s = %lld; repeat: THIMBLE_FUZZ_SEED=%zu THIMBLE_FUZZ_COUNT=1 "
                  "pt2_integers_test\n",
                  paths[place.archive].filename().c_str(), place.at.to_string().c_str(),
                  static_cast<long long>(value), i);
    Pt2Parts& changed = parts[place.archive];
    json& number = changed.model[place.at];
    const json before = std::exchange(number, value);
    const Bytes archive = changed.pack();
    number = before;

    const std::clock_t start = std::clock();
    const testing::HeapPeak peak;
    import_and_clean(archive);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LE(peak.bytes(), (size_t{16} << 20) + 64 * archive.size()) << running;
    EXPECT_LE(seconds, 1) << running;
    ASSERT_FALSE(HasFatalFailure()) << running;
  }
  std::printf("%zu places, %zu changes\n", places.all.size(), total);
}

}  // namespace
}  // namespace thimble::fuzz

// Makes sanitizers stop with abort(), so that the repeat command is printed after their report.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:handle_abort=0";
}
extern "C" const char* __ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}
