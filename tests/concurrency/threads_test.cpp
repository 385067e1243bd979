// SPDX-License-Identifier: Apache-2.0
// Models in several threads, and calls of a model during its own run. With THIMBLE_SANITIZE=thread
// (`make threads`) every access is checked; without it the results are compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "abi/status.h"
#include "base/aligned_bytes.h"
#include "engines/ethos_u/delegate/include/thimble_ethos_u.h"
#include "engines/ethos_u/hostrun/ethos_u.h"
#include "firmware/apps/soak/soak.h"
#include "formats/pte/read.h"
#include "hostrun/host.h"
#include "kernels/kernels.h"
#include "tests/golden_files.h"
#include "thimble.h"
#include "thimble_trace.h"

namespace {

/// The lock of a product that runs models of one NPU in several threads.
std::mutex npu_mutex;
std::atomic<int> npu_runs{0};

}  // namespace

extern "C" {
void thimble_ethos_u_lock(const thimble_ethos_u*) {
  npu_mutex.lock();
  ++npu_runs;
  std::this_thread::yield();
}
void thimble_ethos_u_unlock(const thimble_ethos_u*) {
  npu_mutex.unlock();
}
}

namespace thimble {
namespace {

using abi::Status;

const char* const kFiles[] = {"sine",
                              "sine_stock",
                              "convolutions_mve",
                              "convolutions_thumb1",
                              "lstm",
                              "states",
                              "convolutions_ethos_u55",
                              "convolutions_axon",
                              "convolutions_neutron"};

thimble_status code(Status status) {
  return static_cast<thimble_status>(status);
}

/// Number of calls of a test: THIMBLE_SOAK_CALLS, or a sample.
uint32_t calls_or(uint32_t sample) {
  const char* const text = std::getenv("THIMBLE_SOAK_CALLS");
  return text != nullptr ? static_cast<uint32_t>(std::atoi(text)) : sample;
}

/// A loaded model with memory of its own.
class Loaded {
 public:
  explicit Loaded(const AlignedBytes& file,
                  const thimble_kernels* kernels = thimble_all_kernels()) {
    EXPECT_EQ(thimble_size(file.data(), file.size(), kernels, &needs), 0);
    memory = std::make_unique<AlignedBytes>(needs.arena_bytes + needs.state_bytes);
    EXPECT_EQ(
        thimble_init(&model, file.data(), file.size(), kernels, memory->data(), memory->size()), 0);
    inputs = std::make_unique<AlignedBytes>(soak::input_bytes(&model));
  }
  /// Runs call `step` of its series. Returns the hash of the outputs; a failure has the hash 0.
  uint64_t call(uint32_t step) {
    uint64_t hash = 0;
    return soak::call(&model, 0, step, inputs->data(), &hash) == 0 ? hash : 0;
  }

  thimble_needs needs = {};
  std::unique_ptr<AlignedBytes> memory, inputs;
  thimble_model model = {};
};

/// The hashes of a series of `steps` calls after a reset.
std::vector<uint64_t> series(Loaded& model, uint32_t steps) {
  std::vector<uint64_t> hashes;
  EXPECT_EQ(thimble_reset(&model.model), 0);
  for (uint32_t step = 0; step < steps; ++step) hashes.push_back(model.call(step));
  return hashes;
}

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, ModelsWithMemoryOfTheirOwnRunInAnyThreads) {
  constexpr uint32_t kSteps = 8;
  for (const char* const name :
       {"sine", "convolutions_mve", "convolutions_thumb1", "lstm", "states"}) {
    SCOPED_TRACE(name);
    const AlignedBytes file(test::golden_file(name));
    Loaded alone(file);
    const std::vector<uint64_t> expected = series(alone, kSteps);
    EXPECT_EQ(std::count(expected.begin(), expected.end(), 0U), 0);
    in_threads(4, [&](int) {  // loads, too, from the same file
      Loaded model(file);
      for (int round = 0; round < 3; ++round) EXPECT_EQ(series(model, kSteps), expected);
    });
  }
}

/// HostModel with its simulated NPUs: each has a device of its own.
TEST(Threads, HostModelsRunInAnyThreads) {
  for (const char* const name : kFiles) {
    SCOPED_TRACE(name);
    const Bytes file = test::golden_file(name);
    const auto run = [&] {
      std::vector<Bytes> outputs;
      auto model = hostrun::HostModel::load(file, name);
      if (!model.ok()) return outputs;
      for (uint32_t step = 0; step < 3; ++step) {
        soak::Random random(step + 1);
        std::vector<AlignedBytes> inputs;
        std::vector<ByteView> views;
        for (const auto& port : model->interface().inputs) {
          inputs.emplace_back(static_cast<size_t>(port.bytes()));
          soak::fill(random, inputs.back().data(), inputs.back().size(), soak::kFloat);
        }
        for (const AlignedBytes& input : inputs) {
          views.emplace_back(reinterpret_cast<const std::byte*>(input.data()), input.size());
        }
        if (!model->run_in_place(views).ok()) return outputs;
        const auto output = model->output(0);
        if (output.ok()) outputs.emplace_back(output->begin(), output->end());
      }
      return outputs;
    };
    const std::vector<Bytes> expected = run();
    ASSERT_EQ(expected.size(), 3U);
    in_threads(2, [&](int) { EXPECT_EQ(run(), expected); });
  }
}

/// Two models of two threads in one arena: a lock of the application covers inputs, run and
/// outputs.
TEST(Threads, OneArenaIsUsedByOneThreadAtATime) {
  const char* const names[] = {"shared_digits_cnn", "shared_hello_sin",
                               "shared_streaming_conv_buffer"};
  constexpr uint32_t kSteps = 12;
  std::vector<AlignedBytes> files;
  std::vector<std::vector<uint64_t>> expected;
  std::vector<std::unique_ptr<Loaded>> loaded;
  size_t bytes = 0;
  for (const char* const name : names) {
    files.emplace_back(test::golden_file(name));
    loaded.push_back(std::make_unique<Loaded>(files.back()));
    expected.push_back(series(*loaded.back(), kSteps));
    bytes = std::max(bytes, loaded.back()->memory->size());
  }
  AlignedBytes arena(bytes);
  for (size_t i = 0; i < files.size(); ++i) {
    ASSERT_EQ(thimble_init(&loaded[i]->model, files[i].data(), files[i].size(),
                           thimble_all_kernels(), arena.data(), arena.size()),
              0);
  }
  std::mutex arena_mutex;
  in_threads(3, [&](int i) {
    const auto at = static_cast<size_t>(i);
    for (uint32_t step = 0; step < kSteps; ++step) {
      const std::lock_guard lock(arena_mutex);
      EXPECT_EQ(loaded[at]->call(step), expected[at][step]) << names[i] << " call " << step;
    }
  });
}

TEST(Threads, TwoModelsOfOneNpuAreSeparatedByTheLock) {
  const Bytes bytes = test::golden_file("convolutions_ethos_u55");
  const AlignedBytes file(bytes);
  const auto program = formats::pte::read(bytes, "npu");
  ASSERT_TRUE(program.ok());
  const auto needs = hostrun::read_ethos_u_needs(*program, "npu");
  ASSERT_TRUE(needs.ok() && needs->has_value());
  hostrun::EthosUDevice device(**needs);
  const auto* const kernels = reinterpret_cast<const thimble_kernels*>(&device.kernels());
  device.connect(file.data(), file.size(), true);
  Loaded first(file, kernels), second(file, kernels);
  device.connect(first.memory->data(), first.memory->size(), false);
  device.connect(second.memory->data(), second.memory->size(), false);
  constexpr uint32_t kSteps = 16;
  const std::vector<uint64_t> expected = series(first, kSteps);
  EXPECT_EQ(std::count(expected.begin(), expected.end(), 0U), 0);
  npu_runs = 0;
  in_threads(2, [&](int i) {
    for (int round = 0; round < 4; ++round) {
      EXPECT_EQ(series(i == 0 ? first : second, kSteps), expected);
    }
  });
  EXPECT_GE(npu_runs, 2 * 4 * static_cast<int>(kSteps));
}

struct Calls {
  thimble_model* model;
  std::vector<thimble_status> statuses;
  size_t saved_bytes;
};

/// Calls the running model, as an interrupt handler could.
void call_from_hook(void* user, uint32_t, const char*, int after) {
  auto& calls = *static_cast<Calls*>(user);
  if (after != 0 || !calls.statuses.empty()) return;
  alignas(16) uint8_t buffer[4096] = {};
  thimble_view view;
  EXPECT_EQ(thimble_input(calls.model, 0, &view), 0);
  EXPECT_EQ(thimble_input_count(calls.model), 1U);
  EXPECT_NE(thimble_instruction_op(calls.model, 0), nullptr);
  calls.statuses = {thimble_run(calls.model), thimble_set_input(calls.model, 0, buffer, view.bytes),
                    thimble_save(calls.model, buffer, calls.saved_bytes),
                    thimble_restore(calls.model, buffer, calls.saved_bytes)};
}

TEST(Reentrancy, CallsOfARunningModelAreRefused) {
  for (const char* const name : {"states", "sine_stock"}) {
    SCOPED_TRACE(name);
    const AlignedBytes file(test::golden_file(name));
    Loaded alone(file), model(file);
    const std::vector<uint64_t> expected = series(alone, 4);
    Calls calls = {&model.model, {}, model.needs.saved_bytes};
    ASSERT_EQ(thimble_set_trace(&model.model, call_from_hook, &calls), 0);
    EXPECT_EQ(series(model, 4), expected);  // the refused calls have changed nothing
    const std::vector<thimble_status> busy(4, code(Status::kBusy));
    EXPECT_EQ(calls.statuses, busy);
  }
}

/// Runs another model, in other memory, during the run.
void run_other(void* user, uint32_t, const char*, int after) {
  auto& other = *static_cast<Loaded*>(user);
  static const uint64_t expected = other.call(0);
  if (after == 0) {
    EXPECT_EQ(other.call(0), expected);
  }
}

TEST(Reentrancy, AnotherModelRunsDuringARun) {
  const AlignedBytes file(test::golden_file("states")),
      other_file(test::golden_file("convolutions_mve"));
  Loaded alone(file), model(file), other(other_file);
  const std::vector<uint64_t> expected = series(alone, 4);
  ASSERT_EQ(thimble_set_trace(&model.model, run_other, &other), 0);
  EXPECT_EQ(series(model, 4), expected);
}

jmp_buf left_run;
void leave_run(void*, uint32_t instruction, const char*, int) {
  if (instruction == 1) longjmp(left_run, 1);
}

/// A run that a fault handler leaves does not return: the model stays busy until it is reset.
TEST(Reentrancy, ResetEndsARunThatDidNotReturn) {
  const AlignedBytes file(test::golden_file("states"));
  Loaded alone(file), model(file);
  const std::vector<uint64_t> expected = series(alone, 4);
  ASSERT_EQ(thimble_set_trace(&model.model, leave_run, nullptr), 0);
  if (setjmp(left_run) == 0) {
    model.call(0);
    FAIL() << "the run returned";
  }
  EXPECT_EQ(thimble_run(&model.model), code(Status::kBusy));
  ASSERT_EQ(thimble_set_trace(&model.model, nullptr, nullptr), 0);
  EXPECT_EQ(series(model, 4), expected);
}

TEST(Soak, RandomCallsInOneArenaHaveTheResultsOfSingleRuns) {
  const char* const names[] = {"shared_digits_cnn", "shared_hello_sin",
                               "shared_streaming_conv_buffer"};
  std::vector<AlignedBytes> files, buffers;
  std::vector<std::unique_ptr<Loaded>> loaded;
  size_t bytes = 0;
  for (const char* const name : names) {
    files.emplace_back(test::golden_file(name));
    loaded.push_back(std::make_unique<Loaded>(files.back()));
    bytes = std::max(bytes, loaded.back()->memory->size());
  }
  AlignedBytes arena(bytes);
  const auto soak = std::make_unique<soak::Soak>(arena.data(), arena.size());
  for (size_t i = 0; i < files.size(); ++i) {
    soak::Participant* const one =
        soak->add(files[i].data(), files[i].size(), thimble_all_kernels());
    one->needs = loaded[i]->needs;
    one->inputs = loaded[i]->inputs->data();
    buffers.emplace_back(one->needs.saved_bytes);
    one->saved = buffers.back().data();
  }
  ASSERT_EQ(soak->record(), 0);
  const uint32_t calls = calls_or(2000);
  const soak::Report report = soak->run(calls, 1);
  EXPECT_EQ(report.status, 0);
  EXPECT_EQ(report.calls, calls);
  EXPECT_EQ(report.wrong, 0U);
  EXPECT_GT(report.resets, calls / 100);
  EXPECT_GT(report.restores, calls / 400);
  EXPECT_GE(report.longest, 100U);
}

}  // namespace
}  // namespace thimble
