// Flash size of the runtime in a product: everything needed to load and run a model, with start-up
// code, without kernels.

#include <cstdio>
#include <sstream>

#include "support.h"

namespace thimble::firmware_test {
namespace {

constexpr int kFlashBytesMax = 6 * 1024;

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

}  // namespace
}  // namespace thimble::firmware_test
