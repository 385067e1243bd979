// SPDX-License-Identifier: Apache-2.0
// Upper bounds of code in a product, for any compiler version; sizes_test.py compares the exact
// sizes of one version. The runtime is everything needed to load and run a model, with start-up
// code, without kernels.

#include <cstdio>
#include <sstream>

#include "support.h"

namespace thimble::firmware_test {
namespace {

namespace fs = std::filesystem;

constexpr int kFlashBytesMax = 6 * 1024;
constexpr int kDelegateBytesMax = 4 * 1024;

/// Returns the bytes of code and read-only data of an image.
int flash_bytes(const std::string& image) {
  const auto result = base::run_process({THIMBLE_ARM_SIZE, image}, {});
  if (!result.ok() || result->exit_code != 0) return -1;
  std::istringstream lines(result->output);
  std::string titles;
  std::getline(lines, titles);
  int text = -1;
  lines >> text;
  return text;
}

TEST(RuntimeSize, RuntimeFlashStaysBelowLimit) {
  for (const char* core : {"cortex-m4", "cortex-m33", "cortex-m55", "cortex-m0plus"}) {
    const std::string name = "size-" + std::string(core) + ".elf";
    const int bytes = flash_bytes((firmware_folder() / name).string());
    EXPECT_GT(bytes, 1000) << core;
    EXPECT_LT(bytes, kFlashBytesMax) << core;
    RecordProperty(core, bytes);
    std::printf("%s: %d bytes of flash\n", core, bytes);
  }
}

/// Returns the bytes of code and read-only data of objects that a product links.
int text_bytes(const std::vector<fs::path>& objects) {
  std::vector<std::string> command = {THIMBLE_ARM_SIZE, "-t"};
  for (const fs::path& object : objects) command.push_back(object.string());
  const auto result = base::run_process(command, {});
  if (!result.ok() || result->exit_code != 0) return -1;
  const size_t last = result->output.rfind('\n', result->output.size() - 2);
  return std::stoi(result->output.substr(last + 1));
}

/// A delegate with its check of lists, at -Os.
TEST(DelegateSize, DelegateCodeStaysBelowLimit) {
  struct Case {
    const char* engine;
    std::vector<const char*> sources;
  };
  for (const Case& c :
       {Case{"axon",
             {"delegate/backend.cpp", "delegate/counters.cpp", "container/check_interface.cpp"}},
        Case{"neutron",
             {"delegate/backend.cpp", "delegate/networks.cpp", "delegate/transpose.cpp",
              "container/check_interface.cpp"}}}) {
    std::vector<fs::path> objects;
    for (const char* const source : c.sources) {
      objects.push_back(firmware_folder() / "cortex-m33/engines" / c.engine /
                        (std::string(source) + ".o"));
    }
    const int bytes = text_bytes(objects);
    EXPECT_GT(bytes, 500) << c.engine;
    EXPECT_LT(bytes, kDelegateBytesMax) << c.engine;
    RecordProperty(c.engine, bytes);
    std::printf("delegate of %s: %d bytes\n", c.engine, bytes);
  }
}

}  // namespace
}  // namespace thimble::firmware_test
