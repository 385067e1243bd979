// SPDX-License-Identifier: Apache-2.0
// Compares each fast kernel variant with the portable one, on a core that has the variant. A
// failure prints the words that repeat it: qemu, the image variants-CORE.elf and its command line.

#include "support.h"

namespace thimble::firmware_test {
namespace {

class Variants : public testing::TestWithParam<Core> {};

TEST_P(Variants, OutputsEqualPortableKernels) {
  const Core& core = GetParam();
  const auto result = run({image("variants", core), core.machine, {"variants", "all"}, ""});
  EXPECT_EQ(result.exit_code, 0) << core.name << ": " << result.output;
  // A core without kernel variants of its own would prove nothing.
  EXPECT_NE(result.output.find(" cases equal\n"), std::string::npos) << result.output;
}

constexpr bool has_own_objects(std::string_view name) {
  return name != "cortex-m0" && name != "cortex-m35p" && name != "cortex-m85" && name != "microbit";
}

std::vector<Core> own_cores() {
  std::vector<Core> cores;
  for (const Core& core : kCores) {
    if (has_own_objects(core.name)) cores.push_back(core);
  }
  return cores;
}

INSTANTIATE_TEST_SUITE_P(Cores, Variants, testing::ValuesIn(own_cores()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace thimble::firmware_test
