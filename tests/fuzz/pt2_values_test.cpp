// SPDX-License-Identifier: Apache-2.0
// Every kind of value of a model.json becomes other values, one after the other: an integer becomes
// the limits of its type, each value becomes one of another type. A kind is an argument of an
// operator, or a field outside of nodes, such as a stride. Required: no crash, no sanitizer report,
// a second of processor time and the memory that docs/faults.md states.
// A sample, every THIMBLE_FUZZ_STEP-th change, is made; 1 makes all of them.
//
// A failure prints the command that repeats it.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/fuzz/bounds.h"
#include "tests/fuzz/heap_peak.h"
#include "tests/fuzz/pt2_stages.h"
#include "tests/fuzz/repeat_command.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::fuzz {
namespace {

using formats::testing::Pt2Parts;
using nlohmann::json;

constexpr uintmax_t kFileBytesMax = 64 << 10;
constexpr int kIntegersMax = 3;  // changed integers of one argument of an operator
const std::vector<json> kIntegers = {INT64_MIN, INT64_MAX, INT32_MAX, 100'000, 0, -1};
const std::vector<json> kOthers = {nullptr,
                                   true,
                                   "",
                                   1e308,
                                   json::array(),
                                   json::object(),
                                   {{"as_none", json::array()}},
                                   {{"as_ints", json::array({1, 2, 3})}},
                                   {{"as_tensor", {{"name", "x"}}}}};

struct Change {
  size_t archive = 0;
  json::json_pointer at;
  const json* value = nullptr;
};

/// Lists the changes of archives.
class Changes {
 public:
  void add_archive(size_t archive, const json& model) {
    archive_ = archive;
    fields_.clear();
    visit(model, json::json_pointer(), "", "");
  }
  std::vector<Change> all;

 private:
  /// `owner` is the operator and the argument, empty outside of nodes. `key` has the keys of the
  /// two innermost objects. Integers outside of nodes are changed once in each archive, because
  /// archives have different operators.
  void visit(const json& value, const json::json_pointer& at, std::string owner, std::string key) {
    const std::string kind = owner + " " + key;
    if (++others_[kind] == 1) add(at, kOthers);
    if (value.is_number_integer()) {
      const int count = owner.empty() ? ++fields_[kind] : ++integers_[kind];
      if (count <= (owner.empty() ? 1 : kIntegersMax)) add(at, kIntegers);
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

  void add(const json::json_pointer& at, const std::vector<json>& values) {
    for (const json& each : values) all.push_back({archive_, at, &each});
  }

  size_t archive_ = 0;
  std::map<std::string, int> integers_, others_;  // of all archives
  std::map<std::string, int> fields_;             // integers outside of nodes of this archive
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

TEST(Pt2Values, OtherValuesAreSafe) {
  catch_signals();
  const std::vector<std::filesystem::path> paths = archives();
  ASSERT_FALSE(paths.empty());
  std::vector<Pt2Parts> parts;
  Changes changes;
  for (const auto& path : paths) {
    parts.push_back(formats::testing::load_pt2(path));
    changes.add_archive(parts.size() - 1, parts.back().model);
  }
  const size_t total = changes.all.size();
  ASSERT_GE(total, 10'000U);
  const size_t first = from_environment("THIMBLE_FUZZ_SEED", 0);
  ASSERT_LT(first, total);
  const size_t count = from_environment("THIMBLE_FUZZ_COUNT", total);
  const size_t step = from_environment("THIMBLE_FUZZ_STEP", 23);
  for (size_t i = first; i < std::min(total, first + count); i += step) {
    const Change& change = changes.all[i];
    set_repeat_command("THIMBLE_FUZZ_SEED=" + std::to_string(i) +
                       " THIMBLE_FUZZ_COUNT=1 pt2_values_test # " +
                       paths[change.archive].filename().string() + change.at.to_string() + " = " +
                       change.value->dump());
    Pt2Parts& changed = parts[change.archive];
    json& value = changed.model[change.at];
    json before = std::exchange(value, *change.value);
    const Bytes archive = changed.pack();
    value = std::move(before);

    start_timers();
    const double start = seconds_used();
    const testing::HeapPeak peak;
    import_and_clean(archive);
    EXPECT_LE(seconds_used() - start, kSecondsMax) << repeat_command();
    EXPECT_LE(peak.bytes(), kBytesMax + kBytesMaxPerByte * archive.size()) << repeat_command();
    ASSERT_FALSE(HasFatalFailure()) << repeat_command();
  }
  stop_timers();
  std::printf("every change of %zu, in steps of %zu\n", total, step);
}

}  // namespace
}  // namespace thimble::fuzz
