// SPDX-License-Identifier: Apache-2.0
// Hand-made programs compute in the simulator what their operations define, on every configuration
// and in every memory mode, without a hazard.

#include <gtest/gtest.h>

#include <cstring>

#include "engines/ethos_u/isa/driver_payload.h"
#include "ethos_u_programs.h"

namespace thimble::test {
namespace {

using Make = NpuProgram (*)(const Config&);

void check(const NpuProgram& program, const ScheduleOptions& options) {
  const std::vector<Bytes> inputs = random_inputs(program, 5);
  const auto blob = compile(program, options);
  ASSERT_TRUE(blob.ok()) << program.config->name << ": " << blob.error().message;
  const Simulated got = simulate(program, *blob, inputs);
  ASSERT_EQ(got.error, "") << program.config->name;
  EXPECT_EQ(got.outputs, interpret(program, inputs)) << program.config->name;
}

TEST(EthosUEmit, ProgramsEqualInterpreter) {
  for (const Config& config : thimble::ethos_u::kConfigs) {
    for (const Make make : {chain, residual, branches}) {
      for (const MemoryMode mode :
           {MemoryMode::kSramOnly, MemoryMode::kSharedSram, MemoryMode::kDedicatedSram}) {
        ScheduleOptions options;
        options.mode = mode;
        check(make(config), options);
      }
    }
  }
}

TEST(EthosUEmit, InterpreterDetectsChangedWeight) {
  const Config& config = *thimble::ethos_u::find_config("ethos-u55-128");
  NpuProgram program = chain(config);
  const std::vector<Bytes> inputs = random_inputs(program, 5);
  const auto blob = compile(program, {});
  ASSERT_TRUE(blob.ok());
  program.ops[0].weights->values[0] ^= 64;
  EXPECT_NE(simulate(program, *blob, inputs).outputs, interpret(program, inputs));
}

TEST(EthosUEmit, PayloadContainsConfiguration) {
  for (const Config& config : thimble::ethos_u::kConfigs) {
    const auto blob = compile(chain(config), {});
    ASSERT_TRUE(blob.ok());
    thimble::ethos_u::DriverPayload payload;
    ASSERT_TRUE(thimble::ethos_u::read_driver_payload(
        reinterpret_cast<const uint8_t*>(blob->commands.data()),
        static_cast<uint32_t>(blob->commands.size()), payload));
    EXPECT_EQ(payload.config, thimble::ethos_u::config_word(config));
    EXPECT_EQ(payload.id, thimble::ethos_u::id_word(config.generation));
  }
}

TEST(EthosUEmit, UnchangedRegistersAreNotRewritten) {
  const Config& config = *thimble::ethos_u::find_config("ethos-u55-128");
  ProgramBuilder b(config, 9);
  int at = b.input({8, 8, 16});
  for (int i = 0; i < 8; ++i) at = b.conv(at, 16, 3, 1);
  b.output(at);
  const auto blob = compile(b.take(), {});
  ASSERT_TRUE(blob.ok());
  const size_t count = blob->commands.size() / 4;
  std::vector<uint32_t> words(count);
  std::memcpy(words.data(), blob->commands.data(), count * 4);
  // KERNEL_WIDTH_M1 = 2 is set once for all eight operations.
  EXPECT_EQ(std::count(words.begin(), words.end(), 0x00020120U), 1);
}

TEST(EthosUEmit, UnsupportedOperationsAreRefused) {
  const Config& config = *thimble::ethos_u::find_config("ethos-u55-128");
  NpuProgram program = chain(config);
  program.ops[0].requantize.rounding = Requantize::Rounding::kSymmetric;
  const auto blob = compile(program, {});
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace thimble::test
