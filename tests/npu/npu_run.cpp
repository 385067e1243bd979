// SPDX-License-Identifier: Apache-2.0
// npu_run [--slow] [--hazards] [--text] [--time] [--quiet] CASE...: runs the command streams of
// cases (folders, or archives of many) and compares the memory with the expected one (case.h).
// Prints one line per case; with --quiet only cases that differ. --slow: only the general code
// paths. --hazards: a hazard is a difference. --text: disassembly and assembly must give the same
// stream. --time: milliseconds. Exit code 1 if a case differs or cannot be run, or if no case
// exists.

#include <cstdio>
#include <string>

#include "tests/npu/case.h"

namespace {

using thimble::ethos_u::testing::Files;
namespace testing = thimble::ethos_u::testing;

struct Run {
  testing::Options options;
  bool text = false, time = false, quiet = false;
  size_t cases = 0, failed = 0;

  void one(const std::string& name, const Files& files) {
    const testing::Case c = testing::read_case(files);
    double milliseconds = 0;
    const std::string report = c.error.empty() ? testing::run_case(c, options, &milliseconds)
                                               : "cannot be run: " + c.error;
    ++cases;
    if (!report.empty()) ++failed;
    if (report.empty() && quiet) return;
    std::printf("%s: %s", name.c_str(), report.empty() ? "equal" : report.c_str());
    if (time) std::printf(" (%.1f ms)", milliseconds);
    std::printf("\n");
  }

  void all(const std::string& path) {
    if (std::filesystem::is_directory(path)) return one(path, testing::read_folder(path));
    std::string error;
    for (const auto& [name, files] : testing::read_archive(path, &error)) {
      one(path + ":" + name, files);
    }
    if (error.empty()) return;
    ++cases, ++failed;
    std::printf("%s: cannot be read: %s\n", path.c_str(), error.c_str());
  }
};

}  // namespace

int main(int argc, char** argv) {
  Run run;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--slow") {
      run.options.slow = true;
    } else if (argument == "--hazards") {
      run.options.hazards = true;
    } else if (argument == "--text") {
      run.text = true;
    } else if (argument == "--time") {
      run.time = true;
    } else if (argument == "--quiet") {
      run.quiet = true;
    } else {
      run.all(argument);
    }
  }
  std::printf("%zu cases, %zu failed\n", run.cases, run.failed);
  return run.cases == 0 || run.failed != 0 ? 1 : 0;
}
