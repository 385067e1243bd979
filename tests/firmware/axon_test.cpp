// SPDX-License-Identifier: Apache-2.0
// Calls of the AXON on the emulated M33: the bytes equal the host's for every step; and the cost of
// a call without the NPU's own work.

#include <cstdio>
#include <cstring>
#include <sstream>

#include "../unit/axon_program.h"
#include "abi/status.h"
#include "formats/pte/write.h"
#include "hostrun/host.h"
#include "support.h"

namespace thimble::firmware_test {
namespace {

constexpr Core kM33 = {"cortex-m33", "mps2-an505", Isa::kV7em};
constexpr size_t kSteps = 20;
constexpr long kCallInstructionsMax = 1200;
constexpr double kMegahertz = 128;  // clock of the nRF54LM20B's core

Bytes sample_file() {
  auto file = formats::pte::write(axon_test::axon_program(axon_test::sample_list().build()));
  EXPECT_TRUE(file.ok());
  return *file;
}

base::ProcessResult run_sample(const Bytes& file, std::vector<std::string> more) {
  write_file("model.pte", file);
  std::vector<std::string> words = {"runner"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"model.pte", "x", "y"});
  return run({image("runner-axon", kM33), kM33.machine, std::move(words), "counts"});
}

ir::Tensor picture(const hostrun::Port& port, size_t step) {
  ir::Tensor tensor;
  tensor.dtype = port.dtype;
  tensor.shape = port.shape;
  for (size_t i = 0; i < port.bytes(); ++i) {
    tensor.bytes.push_back(static_cast<std::byte>(step * 31 + i * 17));
  }
  return tensor;
}

TEST(Axon, OutputsEqualHostForEveryStep) {
  const Bytes file = sample_file();
  auto host = hostrun::HostModel::load(file, "sample");
  ASSERT_TRUE(host.ok()) << host.error().message;
  const hostrun::Interface interface = host->interface();
  Bytes inputs;
  std::vector<Bytes> outputs(interface.outputs.size());
  for (size_t step = 0; step < kSteps; ++step) {
    const ir::Tensor tensor = picture(interface.inputs[0], step);
    inputs.insert(inputs.end(), tensor.bytes.begin(), tensor.bytes.end());
    const auto answers = host->run({&tensor, 1});
    ASSERT_TRUE(answers.ok()) << answers.error().message;
    for (size_t i = 0; i < outputs.size(); ++i) {
      append(outputs[i], ir::to_memory((*answers)[i], interface.outputs[i].dim_order));
    }
  }
  write_file("x", inputs);
  const auto result = run_sample(file, {});
  ASSERT_EQ(result.exit_code, 0) << result.output;
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(read_file("y_" + std::to_string(i) + ".bin") == as_text(outputs[i])) << i;
  }
  const std::string report = read_file("y.txt");
  EXPECT_NE(report.find("op 0 ThimbleAxonModel\n"), std::string::npos) << report;
  EXPECT_NE(report.find("axon list_0123456789ab calls 20 cycles 3600\n"), std::string::npos)
      << report;
}

TEST(Axon, InvalidLayerListReturnsStatus) {
  axon_test::List list = axon_test::sample_list();
  list.layers[axon_test::kSampleMax].kernel_h = 0;
  const auto file = formats::pte::write(axon_test::axon_program(list.build()));
  ASSERT_TRUE(file.ok());
  write_file("x", Bytes(84));
  EXPECT_EQ(run_sample(*file, {}).exit_code, 1);
  const std::string status = std::to_string(static_cast<int>(abi::Status::kBadPayload));
  EXPECT_NE(read_file("y.txt").find("status " + status + " "), std::string::npos);
}

/// A file with one tanh: one input, one output, no state.
Bytes small_file() {
  namespace pte = formats::pte;
  axon_test::List list;
  list.layer(axon::Operation::kTanh, {list.external({1, 1, 1, 3}, 2, 0)},
             list.interlayer({1, 1, 1, 3}, 1, 0));
  list.output(list.last());
  pte::Program program;
  pte::ExecutionPlan plan;
  plan.values = {axon_test::int8_tensor({1, 3}, -1), axon_test::int8_tensor({1, 3}, 0)};
  std::get<pte::Tensor>(plan.values[0]).scalar_type = pte::ScalarType::kShort;
  plan.inputs = {0};
  plan.outputs = {1};
  plan.delegates = {{axon::kDelegateId, 0, {}}};
  plan.chains[0].instructions = {pte::DelegateCall{0, {0, 1}}};
  plan.memory_sizes = {0, 16};
  program.plans = {plan};
  program.delegate_blobs = {
      {pte::BlobLocation::kSegment, 16, axon_test::as_file_bytes(list.build())}};
  auto file = pte::write(program);
  EXPECT_TRUE(file.ok());
  return *file;
}

/// Counts the instructions of one delegate call with an empty driver, which leaves only our code.
TEST(Axon, CallInstructionsStayBelowLimit) {
  struct Case {
    const char* name;
    Bytes file;
    size_t input_bytes;
  };
  for (const Case& each : {Case{"1 input, 1 output", small_file(), 6},
                           Case{"2 inputs, 3 outputs", sample_file(), 84}}) {
    write_file("x", Bytes(each.input_bytes));
    ASSERT_EQ(run_sample(each.file, {"-0"}).exit_code, 0) << each.name;
    const std::string counts = read_file("counts");
    const long call = counted(counts, "run 0");
    EXPECT_GT(call, 50) << each.name;
    EXPECT_LT(call, kCallInstructionsMax) << each.name;
    RecordProperty(each.name, static_cast<int>(call));
    std::printf(
        "a run that is one call of the delegate, %s: %ld instructions of the M33, %.1f us at "
        "128 MHz and one per cycle; loading: %ld\n",
        each.name, call, static_cast<double>(call) / kMegahertz, counted(counts, "load 0"));
  }
}

}  // namespace
}  // namespace thimble::firmware_test
