// SPDX-License-Identifier: Apache-2.0
// Files that load: outputs, memory needs, and the interface's status for invalid calls.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <cstring>

#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "abi/kernel_layout.h"
#include "abi/status.h"
#include "runtime_support.h"
#include "tests/folders.h"
#include "thimble_trace.h"

namespace thimble::runtime_test {
namespace {

using abi::Status;

thimble_status code(Status status) {
  return static_cast<thimble_status>(status);
}

std::vector<int> output(const LoadedModel& loaded, uint32_t index) {
  thimble_view view{};
  EXPECT_EQ(thimble_output(&loaded.model, index, &view), 0);
  const auto* data = static_cast<const int8_t*>(view.data);
  return {data, data + view.bytes};
}

const std::array<int8_t, 4> kFirst = {10, 20, 30, 40};
const std::array<int8_t, 4> kSecond = {1, 2, 3, 4};

void run_sample(LoadedModel& loaded) {
  ASSERT_EQ(loaded.size_status, 0);
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(thimble_set_input(&loaded.model, 0, kFirst.data(), 4), 0);
  ASSERT_EQ(thimble_set_input(&loaded.model, 1, kSecond.data(), 4), 0);
  ASSERT_EQ(thimble_run(&loaded.model), 0);
  EXPECT_EQ(output(loaded, 0), (std::vector<int>{10, 20, 30, 40}));
  // 3 + true + 10 for 0.5 + (3 + 7), plus caller + (planned + caller + constant).
  EXPECT_EQ(output(loaded, 1), (std::vector<int>{24 + 13, 24 + 26, 24 + 39, 24 + 52}));
  EXPECT_EQ(output(loaded, 2), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(output(loaded, 3), (std::vector<int>{1, 2, 3, 4}));
}

TEST(RuntimeRun, EveryKindOfArgument) {
  LoadedModel loaded(written(sample_program()));
  run_sample(loaded);
  run_sample(loaded);
}

TEST(RuntimeRun, ConstantsInsideTheFlatbuffer) {
  pte::Program program = sample_program();
  program.constants_inline = true;
  LoadedModel loaded(written(program));
  run_sample(loaded);
}

/// The arena has room for load to cache values, and instructions use values again.
TEST(RuntimeRun, CachedValuesAreReused) {
  pte::Program program = sample_program();
  pte::ExecutionPlan& plan = plan_of(program);
  plan.memory_sizes = {0, 4096};
  auto& instructions = plan.chains[0].instructions;
  instructions.insert(instructions.end(), {instructions[0], instructions[1], instructions[1]});
  LoadedModel loaded(written(program));
  run_sample(loaded);
  run_sample(loaded);
  // A list of the maximum length with the same sum.
  auto& list = std::get<pte::IntList>(plan.values[kInts]);
  plan.values[kInt2] = pte::Int{1};
  plan.values[kDead] = pte::Int{-3};
  list.items = {kInt, kInt2, kInt2, kInt2, kInt, kInt, kInt2, kDead};
  LoadedModel longest(written(program));
  run_sample(longest);
}

TEST(RuntimeRun, UsesPlanForwardElseFirst) {
  pte::Program program = sample_program();
  plan_of(program).name = "other";
  LoadedModel only(written(program));
  run_sample(only);
  plan_of(program).name = "forward";
  pte::ExecutionPlan empty;
  empty.name = "before";
  program.plans.insert(program.plans.begin(), empty);
  LoadedModel second(written(program));
  run_sample(second);
}

TEST(RuntimeRun, ReportsArenaOperatorsAndUnplannedInputs) {
  pte::Program program = sample_program();
  LoadedModel loaded(written(program));
  EXPECT_EQ(loaded.needs.arena_bytes, 36u);
  const size_t padding = (sizeof(void*) - 36 % sizeof(void*)) % sizeof(void*);
  EXPECT_EQ(loaded.needs.state_bytes, padding + 4 * sizeof(void*));
  tensor_of(program, kCallerInput).allocation = pte::Allocation{1, 4};
  LoadedModel planned(written(program));
  EXPECT_EQ(planned.needs.state_bytes, padding + 2 * sizeof(void*));
  run_sample(planned);
}

TEST(RuntimeRun, ProgramWithoutInstructionsRuns) {
  pte::Program program = sample_program();
  plan_of(program).chains[0].instructions.clear();
  plan_of(program).operators.clear();
  plan_of(program).outputs = {kPlannedInput, kConstant};
  LoadedModel loaded(written(program), no_kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(thimble_set_input(&loaded.model, 0, kFirst.data(), 4), 0);
  ASSERT_EQ(thimble_set_input(&loaded.model, 1, kSecond.data(), 4), 0);
  ASSERT_EQ(thimble_run(&loaded.model), 0);
  EXPECT_EQ(output(loaded, 0), (std::vector<int>{10, 20, 30, 40}));
  EXPECT_EQ(output(loaded, 1), (std::vector<int>{1, 2, 3, 4}));
}

TEST(RuntimeRun, AnOperatorWithoutOverload) {
  for (const char* overload : {"", "default"}) {
    pte::Program program = sample_program();
    plan_of(program).operators[0] = {"test::plain", overload};
    LoadedModel loaded(written(program));
    run_sample(loaded);
  }
}

TEST(RuntimeRun, EmptyAndScalarTensors) {
  pte::Program program = sample_program();
  for (const int32_t value : {kPlannedInput, kCopied}) {
    tensor_of(program, value).sizes = {0, 4};
  }
  plan_of(program).chains[0].instructions.pop_back();
  LoadedModel empty(written(program));
  ASSERT_EQ(empty.status, 0);
  EXPECT_EQ(run_with_input_buffers(empty), 0);
  for (const int32_t value : {kPlannedInput, kCopied}) {
    tensor_of(program, value).sizes.clear();
    tensor_of(program, value).dim_order.clear();
  }
  LoadedModel scalar(written(program));
  ASSERT_EQ(scalar.status, 0);
  thimble_view view{};
  ASSERT_EQ(thimble_output(&scalar.model, 0, &view), 0);
  EXPECT_EQ(view.bytes, 1u);
  EXPECT_EQ(view.rank, 0);
  EXPECT_EQ(run_with_input_buffers(scalar), 0);
}

TEST(RuntimeInterface, DescribesTensors) {
  pte::Program program = sample_program();
  tensor_of(program, kPlannedInput).dim_order = {1, 0};
  LoadedModel loaded(written(program));
  ASSERT_EQ(thimble_input_count(&loaded.model), 2u);
  ASSERT_EQ(thimble_output_count(&loaded.model), 4u);
  thimble_view view{};
  ASSERT_EQ(thimble_input(&loaded.model, 0, &view), 0);
  EXPECT_EQ(view.data, loaded.memory->data());
  EXPECT_EQ(view.bytes, 4u);
  EXPECT_EQ(view.rank, 2);
  EXPECT_EQ(view.sizes[1], 4);
  EXPECT_EQ(view.dim_order[0], 1);
  EXPECT_EQ(view.dtype, 1);
  ASSERT_EQ(thimble_input(&loaded.model, 1, &view), 0);
  EXPECT_EQ(view.data, nullptr);
}

TEST(RuntimeInterface, AnInputMustBeSetAgainAfterReset) {
  LoadedModel loaded(written(sample_program()));
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(thimble_run(&loaded.model), code(Status::kInputNotSet));
  run_sample(loaded);
  ASSERT_EQ(thimble_reset(&loaded.model), 0);
  EXPECT_EQ(thimble_run(&loaded.model), code(Status::kInputNotSet));
  run_sample(loaded);
}

TEST(RuntimeInterface, RefusesMisuse) {
  LoadedModel loaded(written(sample_program()));
  ASSERT_EQ(loaded.status, 0);
  thimble_model* model = &loaded.model;
  thimble_view view{};
  const auto bad = code(Status::kBadArgument);
  EXPECT_EQ(thimble_set_input(model, 2, kFirst.data(), 4), bad);
  EXPECT_EQ(thimble_set_input(model, 0, kFirst.data(), 3), bad);
  EXPECT_EQ(thimble_set_input(model, 0, nullptr, 4), bad);
  EXPECT_EQ(thimble_input(model, 2, &view), bad);
  EXPECT_EQ(thimble_output(model, 4, &view), bad);
  EXPECT_EQ(thimble_output(model, 0, nullptr), bad);
  EXPECT_EQ(thimble_size(nullptr, 100, test_kernels(), &loaded.needs), bad);
  EXPECT_EQ(thimble_size(loaded.file.data(), loaded.file.size(), nullptr, &loaded.needs), bad);
  EXPECT_EQ(thimble_init(nullptr, loaded.file.data(), loaded.file.size(), test_kernels(),
                         loaded.memory->data(), loaded.memory->size()),
            bad);
}

TEST(RuntimeInterface, CallsBeforeInitAreRefused) {
  thimble_model model{};
  thimble_view view{};
  const auto expected = code(Status::kNotInitialized);
  EXPECT_EQ(thimble_run(&model), expected);
  EXPECT_EQ(thimble_reset(&model), expected);
  EXPECT_EQ(thimble_set_input(&model, 0, kFirst.data(), 4), expected);
  EXPECT_EQ(thimble_input(&model, 0, &view), expected);
  EXPECT_EQ(thimble_output(&model, 0, &view), expected);
  EXPECT_EQ(thimble_input_count(&model), 0u);
  EXPECT_EQ(thimble_instruction_op(&model, 0), nullptr);
  EXPECT_EQ(thimble_run(nullptr), expected);
}

TEST(RuntimeInterface, AFailedInitLeavesNoModel) {
  LoadedModel loaded(written(sample_program()));
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(thimble_init(&loaded.model, loaded.file.data(), loaded.file.size(), no_kernels(),
                         loaded.memory->data(), loaded.memory->size()),
            code(Status::kMissingKernel));
  EXPECT_EQ(thimble_run(&loaded.model), code(Status::kNotInitialized));
}

TEST(RuntimeInterface, AlignmentAndMemorySize) {
  const Bytes bytes = written(sample_program());
  LoadedModel loaded(bytes);
  AlignedBytes shifted(bytes.size() + 8);
  std::memcpy(shifted.data() + 8, bytes.data(), bytes.size());
  thimble_needs needs{};
  EXPECT_EQ(thimble_size(shifted.data() + 8, bytes.size(), test_kernels(), &needs),
            code(Status::kMisaligned));
  const size_t memory_bytes = loaded.needs.arena_bytes + loaded.needs.state_bytes;
  AlignedBytes memory(memory_bytes + 8);
  thimble_model model{};
  const auto init = [&](size_t offset, size_t size) {
    return thimble_init(&model, loaded.file.data(), loaded.file.size(), test_kernels(),
                        memory.data() + offset, size);
  };
  EXPECT_EQ(init(8, memory_bytes), code(Status::kMisaligned));
  EXPECT_EQ(init(0, memory_bytes - 1), code(Status::kArenaTooSmall));
  EXPECT_EQ(init(0, 0), code(Status::kArenaTooSmall));
  EXPECT_EQ(init(0, memory_bytes), 0);
}

TEST(RuntimeInterface, CallerBuffersAreAlignedToTheirElement) {
  pte::Program program = sample_program();
  plan_of(program).chains[0].instructions.pop_back();
  pte::Tensor& input = tensor_of(program, kCallerInput);
  input.scalar_type = pte::ScalarType::kFloat;
  LoadedModel loaded(written(program));
  ASSERT_EQ(loaded.status, 0);
  AlignedBytes data(32);
  EXPECT_EQ(thimble_set_input(&loaded.model, 1, data.data() + 2, 16), code(Status::kMisaligned));
  EXPECT_EQ(thimble_set_input(&loaded.model, 1, data.data() + 4, 16), 0);
}

TEST(RuntimeTrace, HookIsCalledBeforeAndAfterEachInstruction) {
  LoadedModel loaded(written(sample_program()));
  std::string seen;
  const auto hook = [](void* user, uint32_t instruction, const char* op, int after) {
    *static_cast<std::string*>(user) +=
        std::to_string(instruction) + (after != 0 ? "- " : "+ ") + op + "\n";
  };
  ASSERT_EQ(thimble_set_trace(&loaded.model, hook, &seen), 0);
  run_sample(loaded);
  EXPECT_EQ(seen,
            "0+ test::copy.out\n0- test::copy.out\n"
            "1+ test::everything.out\n1- test::everything.out\n");
  EXPECT_EQ(thimble_instruction_count(&loaded.model), 2u);
  EXPECT_STREQ(thimble_instruction_op(&loaded.model, 1), "test::everything.out");
  EXPECT_EQ(thimble_instruction_op(&loaded.model, 2), nullptr);
  ASSERT_EQ(thimble_set_trace(&loaded.model, nullptr, nullptr), 0);
  seen.clear();
  run_sample(loaded);
  EXPECT_EQ(seen, "");
}

/// The guards that the tests of damaged files rely on.
TEST(RuntimeSupport, WritesOutsideTheMemoryAreDetected) {
  static const Bytes file = written(sample_program());
  EXPECT_NONFATAL_FAILURE(
      {
        const LoadedModel loaded(file);
        loaded.file.data()[40] ^= 1;
      },
      "the file was written to");
  if (GuardedMemory::kGuard == 0) GTEST_SKIP() << "the address sanitizer detects the others";
  for (const int at : {-1, 0}) {
    static int position;
    position = at;
    EXPECT_NONFATAL_FAILURE(
        {
          const LoadedModel loaded(file);
          uint8_t* const place = position < 0 ? loaded.memory->data() - 1
                                              : loaded.memory->data() + loaded.memory->size();
          *place ^= 1;
        },
        "outside the model's memory");
  }
}

TEST(RuntimeVersion, IsThatOfTheProject) {
  std::ifstream file(test::source_folder() / "CMakeLists.txt");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string version = std::to_string(THIMBLE_VERSION_MAJOR) + "." +
                              std::to_string(THIMBLE_VERSION_MINOR) + "." +
                              std::to_string(THIMBLE_VERSION_PATCH);
  EXPECT_NE(text.find("project(thimble VERSION " + version + " "), std::string::npos) << version;
  EXPECT_EQ(thimble_version(), THIMBLE_VERSION);
  EXPECT_EQ(thimble_layout_version(), abi::kKernelLayoutVersion);
}

TEST(RuntimeStatus, EachCodeHasATextOfItsOwn) {
  static constexpr thimble_status kCodes[] = {
#define THIMBLE_STATUS(name, value, text) value,
#include "abi/status.def"
#undef THIMBLE_STATUS
  };
  const std::string unknown = thimble_status_text(-1);
  EXPECT_EQ(unknown, "unknown status");
  EXPECT_STREQ(thimble_status_text(0), "ok");
  std::set<std::string> texts = {unknown};
  for (const thimble_status status : kCodes) {
    const std::string text = thimble_status_text(status);
    EXPECT_TRUE(texts.insert(text).second) << status << " also has: " << text;
  }
  EXPECT_EQ(kCodes[std::size(kCodes) - 1], std::ssize(kCodes) - 1) << "codes without a gap";
  EXPECT_EQ(thimble_status_text(std::size(kCodes)), unknown);
}

}  // namespace
}  // namespace thimble::runtime_test
