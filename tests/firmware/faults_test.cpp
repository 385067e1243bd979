// SPDX-License-Identifier: Apache-2.0
// Every fault on every core: the text on the console and the exit code of the emulator.

#include "formats/pte/write.h"
#include "models.h"
#include "support.h"

namespace thimble::firmware_test {
namespace {

struct Fault {
  const char* name;
  int exit_code;
  const char* text;
};
constexpr Fault kFaults[] = {
    {"fine", 0, "status 0 ok\n"},
    {"bad-argument", 1, "status 1 bad argument: null pointer, or wrong index or size\n"},
    {"misaligned", 1, "status 2 misaligned: model, arena or buffer is not 16-byte aligned\n"},
    {"no-executor", 1, "status 35 the file has no records of its own"},
    {"missing-method", 1, "status 36 the file has no method of this name\n"},
    {"missing-kernel", 1, "status 7 a kernel that the model calls is not linked\n"},
    {"small-arena", 1, "status 8 the arena is smaller than the model needs\n"},
    {"bad-file", 1, "status 5 model file is corrupt\n"},
    {"not-a-program", 1, "status 3 not an ExecuTorch program (identifier ET12)\n"},
    {"truncated", 1, "status 4 model file is truncated\n"},
    {"input-not-set", 1, "status 15 an input was not set before run\n"},
    {"not-initialized", 1, "status 16 init has not succeeded on this model\n"},
    {"no-such-case", 2, "usage: faults"},
    {"hard-fault", 3, "fault: HardFault"},
    {"undefined-instruction", 3, "fault: HardFault"},
    {"stack-overflow", 4, "fault: stack overflow"},
    {"uart", 0, "printed without semihosting\n"},
};

class Faults : public testing::TestWithParam<Core> {};

TEST_P(Faults, EachFaultHasTextAndExitCode) {
  const Core& core = GetParam();
  const Result<Bytes> bytes = formats::pte::write(copy_program());
  ASSERT_TRUE(bytes.ok());
  write_file("copy.pte", *bytes);
  for (const Fault& fault : kFaults) {
    const auto result =
        run({image("faults", core), core.machine, {"faults", fault.name, "copy.pte"}, ""});
    EXPECT_EQ(result.exit_code, fault.exit_code) << fault.name << ": " << result.output;
    EXPECT_NE(result.output.find(fault.text), std::string::npos)
        << fault.name << ": " << result.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, Faults, testing::ValuesIn(kCores), [](const auto& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace thimble::firmware_test
