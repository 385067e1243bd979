// SPDX-License-Identifier: Apache-2.0
// Delegates that work while kernels run: the order of start, calls and wait, failures, and equal
// results whether the NPU executes its stream at the start, at the wait, or in one call.

#include "delegates_support.h"

#include <cstring>
#include <set>

#include "abi/named_data.h"
#include "abi/status.h"
#include "driver/compile.h"
#include "engines/ethos_u/delegate/backend.h"
#include "formats/pte/delegate_overlap.h"
#include "formats/pte/write.h"
#include "runtime/include/thimble_trace.h"

namespace thimble::runtime_test {
namespace {

using abi::Status;
using runtime::DelegateArgs;
using runtime::DelegateSlot;

/// Events of the fake delegate and of the trace hook, in order.
std::string events;
Status start_status, wait_status, run_status;

Status fake_start(const DelegateSlot& slot, const DelegateArgs& args) {
  events += "start ";
  if (start_status != Status::kOk) return start_status;
  return runtime::ethos_u::background.start(slot, args);
}
Status fake_wait(const DelegateSlot& slot, const DelegateArgs& args) {
  events += "wait ";
  const Status status = runtime::ethos_u::background.wait(slot, args);
  return wait_status != Status::kOk ? wait_status : status;
}
Status fake_run(const DelegateSlot& slot, const DelegateArgs& args) {
  events += "run ";
  return run_status != Status::kOk ? run_status : runtime::ethos_u::run(slot, args);
}
const runtime::BackgroundCalls kFake =
    runtime::background_calls(fake_start, fake_wait, runtime::ethos_u::background.overlap);

/// A network with two inputs: the core computes the branch of one while the NPU computes that of
/// the other. The NPU also computes the head.
const Bytes& network() {
  static const Bytes bytes = [] {
    const auto folder = test::source_folder() / "tests/data/overlap";
    driver::CompileOptions options;
    options.target = "corstone-300";
    options.calibration = folder / "two_inputs.npz";
    options.engine_off = {"side", "mean"};
    options.keep_small = true;
    options.measure_quality = false;
    const auto compiled = driver::compile(folder / "two_inputs.pt2", options);
    EXPECT_TRUE(compiled.ok()) << compiled.error().message;
    return compiled->pte;
  }();
  return bytes;
}

pte::Program program_of_network() {
  auto program = pte::read(network(), "network");
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

constexpr const char* kOther = "OtherNpu";

/// Returns the same file, whose delegate without overlap has a device of its own.
pte::Program program_of_two_devices() {
  pte::Program program = program_of_network();
  const auto overlaps = pte::delegate_overlaps(program, program.plans[0]);
  program.plans[0].delegates.at(1 - overlaps[0].delegate).id = kOther;
  return program;
}

/// Sets the overlap of a delegate in the file.
void set_overlap(pte::Program& program, size_t delegate, uint8_t overlap) {
  for (pte::NamedData& data : program.named_data) {
    if (data.key != abi::kDelegatesKey) continue;
    data.bytes.at(delegate * sizeof(abi::DelegateRecord) + offsetof(abi::DelegateRecord, overlap)) =
        std::byte{overlap};
  }
}

enum class Way : uint8_t { kFake, kReal, kNone };

/// A loaded network with its simulated NPU.
struct Loaded {
  explicit Loaded(const Bytes& bytes, Way way, bool start_late = false) {
    auto program = pte::read(bytes, "network");
    EXPECT_TRUE(program.ok());
    hostrun::EthosUNeeds needs = **hostrun::read_ethos_u_needs(*program, "network");
    needs.start_late = start_late;
    npu = std::make_unique<hostrun::EthosUDevice>(needs);
    runtime::DelegateBackend& row = rows[0];
    row = npu->row();
    if (way == Way::kFake) row.run = fake_run;
    if (way != Way::kReal) row.background = way == Way::kFake ? &kFake : nullptr;
    rows[1] = row;
    rows[1].id = kOther;
    delegates = runtime::delegates_of(rows, 2);
    table = kernels::all_kernels();
    table.delegates = &delegates;
    model = std::make_unique<LoadedModel>(bytes, reinterpret_cast<const thimble_kernels*>(&table));
    events.clear();
    start_status = wait_status = run_status = Status::kOk;
    if (model->status != 0) return;
    npu->connect(model->file.data(), model->file.size(), true);
    npu->connect(model->memory->data(), model->needs.arena_bytes, false);
  }
  std::unique_ptr<hostrun::EthosUDevice> npu;
  runtime::DelegateBackend rows[2] = {};
  runtime::DelegateBackends delegates = {};
  kernels::KernelTable table = {};
  std::unique_ptr<LoadedModel> model;
};

void trace(void*, uint32_t instruction, const char*, int after) {
  if (after == 0) events += std::to_string(instruction) + " ";
}

/// Status of a run with these inputs, and the bytes of its outputs.
std::pair<int32_t, std::string> run(Loaded& loaded, const std::vector<std::vector<float>>& inputs) {
  LoadedModel& model = *loaded.model;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(thimble_set_input(&model.model, i, inputs[i].data(), inputs[i].size() * 4), 0);
  }
  const int32_t status = thimble_run(&model.model);
  thimble_view view = {};
  EXPECT_EQ(thimble_output(&model.model, 0, &view), 0);
  return {status, std::string(static_cast<const char*>(view.data), view.bytes)};
}

std::vector<std::vector<float>> inputs_of(uint32_t seed) {
  std::vector<std::vector<float>> inputs = {std::vector<float>(4 * 16 * 16),
                                            std::vector<float>(8 * 16 * 16)};
  for (std::vector<float>& input : inputs) {
    for (float& value : input) {
      seed = seed * 1664525 + 1013904223;
      value = static_cast<float>(seed >> 24) / 64 - 2;
    }
  }
  return inputs;
}

TEST(BackgroundDelegates, CallsRunBetweenStartAndWait) {
  const pte::Program program = program_of_network();
  const auto overlaps = pte::delegate_overlaps(program, program.plans[0]);
  ASSERT_EQ(overlaps.size(), 1U);
  Loaded loaded(network(), Way::kFake);
  ASSERT_EQ(loaded.model->status, 0);
  ASSERT_EQ(thimble_set_trace(&loaded.model->model, trace, nullptr), 0);
  EXPECT_EQ(run(loaded, inputs_of(1)).first, 0);
  std::string expected;
  for (size_t i = 0; i < thimble_instruction_count(&loaded.model->model); ++i) {
    const auto* const call =
        std::get_if<pte::DelegateCall>(&program.plans[0].chains[0].instructions[i]);
    expected += std::to_string(i) + " ";
    if (call != nullptr) expected += i == overlaps[0].call ? "start " : "run ";
    if (i == overlaps[0].call + overlaps[0].calls) {
      expected += std::to_string(overlaps[0].call) + " wait ";
    }
  }
  EXPECT_EQ(events, expected);
  EXPECT_NE(events.find("run "), std::string::npos) << "the head runs on the NPU, too";
}

/// The simulator that executes the stream at the start detects calls that overwrite its results;
/// the one that executes it at the wait, calls that overwrite its operands.
TEST(BackgroundDelegates, ResultsAreThoseOfOneCallAfterTheOther) {
  std::set<std::string> different;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Loaded one_by_one(network(), Way::kNone);
    Loaded early(network(), Way::kReal);
    Loaded late(network(), Way::kReal, /*start_late=*/true);
    const auto inputs = inputs_of(seed);
    const auto expected = run(one_by_one, inputs);
    EXPECT_EQ(expected.first, 0);
    EXPECT_EQ(run(early, inputs), expected);
    EXPECT_EQ(run(late, inputs), expected);
    EXPECT_EQ(run(late, inputs), expected) << "again";
    different.insert(expected.second);
  }
  EXPECT_GT(different.size(), 10U);
}

TEST(BackgroundDelegates, FileWithoutOverlapRunsOneCallAfterTheOther) {
  pte::Program program = program_of_network();
  set_overlap(program, 0, 0);
  Loaded loaded(written(program), Way::kFake);
  ASSERT_EQ(loaded.model->status, 0);
  Loaded with(network(), Way::kReal);
  EXPECT_EQ(run(loaded, inputs_of(1)), run(with, inputs_of(1)));
  EXPECT_EQ(events.find("start"), std::string::npos);
}

TEST(BackgroundDelegates, FailuresAreReported) {
  const auto inputs = inputs_of(1);
  Loaded loaded(network(), Way::kFake);
  const auto expected = run(loaded, inputs);
  // Nothing was started, so nothing is awaited.
  events.clear();
  start_status = Status::kNpuTimeout;
  EXPECT_EQ(run(loaded, inputs).first, static_cast<int32_t>(Status::kNpuTimeout));
  EXPECT_EQ(events, "start ");
  // The model runs again after each failure.
  start_status = Status::kOk;
  EXPECT_EQ(run(loaded, inputs), expected);
  events.clear();
  wait_status = Status::kNpuFault;
  EXPECT_EQ(run(loaded, inputs).first, static_cast<int32_t>(Status::kNpuFault));
  EXPECT_EQ(events, "start wait ");
  wait_status = Status::kOk;
  EXPECT_EQ(thimble_reset(&loaded.model->model), 0);
  EXPECT_EQ(run(loaded, inputs), expected);
}

/// A call between start and wait fails: the runtime waits, and returns the first failure.
TEST(BackgroundDelegates, FailureInBetweenWaitsFirst) {
  pte::Program program = program_of_two_devices();
  const auto overlaps = pte::delegate_overlaps(program, program.plans[0]);
  const size_t last = program.plans[0].chains[0].instructions.size() - 1;
  set_overlap(program, overlaps[0].delegate, static_cast<uint8_t>(last - overlaps[0].call));
  Loaded loaded(written(program), Way::kFake);
  ASSERT_EQ(loaded.model->status, 0);
  run_status = Status::kNpuTimeout;
  EXPECT_EQ(run(loaded, inputs_of(1)).first, static_cast<int32_t>(Status::kNpuTimeout));
  EXPECT_EQ(events, "start run wait ");
  // The failure of the wait is not reported in its place.
  events.clear();
  wait_status = Status::kNpuFault;
  EXPECT_EQ(run(loaded, inputs_of(1)).first, static_cast<int32_t>(Status::kNpuTimeout));
  EXPECT_EQ(events, "start run wait ");
}

TEST(BackgroundDelegates, InvalidOverlapsAreRefused) {
  pte::Program program = program_of_two_devices();
  const auto overlaps = pte::delegate_overlaps(program, program.plans[0]);
  const size_t last = program.plans[0].chains[0].instructions.size() - 1;
  const auto status_of = [&](size_t delegate, size_t overlap) {
    pte::Program changed = program;
    set_overlap(changed, delegate, static_cast<uint8_t>(overlap));
    const Loaded loaded(written(changed), Way::kFake);
    EXPECT_EQ(loaded.model->status != 0, loaded.model->size_status != 0);
    return static_cast<Status>(loaded.model->size_status);
  };
  const size_t first = overlaps[0].delegate, other = 1 - first;
  EXPECT_EQ(status_of(first, last - overlaps[0].call), Status::kOk);
  EXPECT_EQ(status_of(first, last - overlaps[0].call + 1), Status::kCorrupt) << "after the end";
  EXPECT_EQ(status_of(first, 255), Status::kCorrupt);
  EXPECT_EQ(status_of(other, 1), Status::kOk) << "one after the other";
  pte::Program both = program;
  set_overlap(both, first, static_cast<uint8_t>(last - overlaps[0].call));
  set_overlap(both, other, 1);
  const Loaded loaded(written(both), Way::kFake);
  EXPECT_EQ(loaded.model->size_status, static_cast<int32_t>(Status::kCorrupt))
      << "one in the other";
  program = program_of_network();
  EXPECT_EQ(status_of(first, last - overlaps[0].call), Status::kCorrupt) << "one device for both";
}

}  // namespace
}  // namespace thimble::runtime_test
