// SPDX-License-Identifier: Apache-2.0
// Calls of the Neutron on the emulated M33: the bytes equal the host's; the cost of a call without
// the NPU's own work; and the cost of reordering images.

#include <cstdio>

#include "../unit/neutron_list_file.h"
#include "../unit/neutron_sample.h"
#include "abi/status.h"
#include "formats/pte/write.h"
#include "hostrun/host.h"
#include "support.h"

namespace thimble::firmware_test {
namespace {

using neutron_test::CallFile;
using neutron_test::List;
using FileBytes = thimble::Bytes;

constexpr Core kM33 = {"cortex-m33", "mps2-an505", Isa::kV7em};
constexpr size_t kSteps = 20;
constexpr long kCallInstructionsMax = 1000;
constexpr double kTurnInstructionsMax = 3.0;     // per byte, channels in blocks of four
constexpr double kTurnInstructionsMaxOdd = 4.5;  // per byte, any number of channels

FileBytes written(const CallFile& file) {
  auto bytes = formats::pte::write(file.program());
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? *bytes : FileBytes();
}

base::ProcessResult run_file(const FileBytes& file, size_t inputs,
                             const std::vector<std::string>& more) {
  write_file("model.pte", file);
  std::vector<std::string> words = {"runner"};
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("model.pte");
  for (size_t i = 0; i < inputs; ++i) words.push_back("x" + std::to_string(i));
  words.emplace_back("y");
  return run({image("runner-neutron", kM33), kM33.machine, std::move(words), "counts"});
}

ir::Tensor numbers(const hostrun::Port& port, size_t step) {
  ir::Tensor tensor;
  tensor.dtype = port.dtype;
  tensor.shape = port.shape;
  for (size_t i = 0; i < port.bytes(); ++i) {
    tensor.bytes.push_back(static_cast<std::byte>(step * 31 + i * 17));
  }
  return tensor;
}

TEST(Neutron, OutputsEqualHostForEveryStep) {
  const FileBytes file = written(neutron_test::file_of(neutron_test::sample_list()));
  auto host = hostrun::HostModel::load(file, "sample");
  ASSERT_TRUE(host.ok()) << host.error().message;
  const hostrun::Interface interface = host->interface();
  std::vector<FileBytes> inputs(interface.inputs.size()), outputs(interface.outputs.size());
  for (size_t step = 0; step < kSteps; ++step) {
    std::vector<ir::Tensor> tensors;
    for (size_t i = 0; i < inputs.size(); ++i) {
      tensors.push_back(numbers(interface.inputs[i], step + i));
      append(inputs[i], tensors[i].bytes);
    }
    const auto answers = host->run(tensors);
    ASSERT_TRUE(answers.ok()) << answers.error().message;
    for (size_t i = 0; i < outputs.size(); ++i) append(outputs[i], (*answers)[i].bytes);
  }
  for (size_t i = 0; i < inputs.size(); ++i) write_file("x" + std::to_string(i), inputs[i]);
  const auto result = run_file(file, inputs.size(), {});
  ASSERT_EQ(result.exit_code, 0) << result.output;
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(read_file("y_" + std::to_string(i) + ".bin") == as_text(outputs[i])) << i;
  }
  const std::string report = read_file("y.txt");
  EXPECT_NE(report.find("op 0 ThimbleNeutronModel\n"), std::string::npos) << report;
  EXPECT_NE(report.find(" kernels 29 calls 20 cycles 86420\n"), std::string::npos) << report;
}

TEST(Neutron, InvalidKernelListReturnsStatus) {
  List list = neutron_test::sample_list();
  list.kernels[neutron_test::sample::kMaxPool].kernel_h = 0;
  for (const char* name : {"x0", "x1"}) write_file(name, FileBytes(name[1] == '0' ? 48 : 24));
  EXPECT_EQ(run_file(written(neutron_test::file_of(list)), 2, {}).exit_code, 1);
  const std::string status = std::to_string(static_cast<int>(abi::Status::kDriverError));
  EXPECT_NE(read_file("y.txt").find("status " + status + " "), std::string::npos);
}

/// A lookup table on an NCHW image. `last`: the model's input and output are channels-last.
CallFile image_file(uint32_t channels, uint32_t height, uint32_t width, bool last) {
  List list;
  const uint32_t bytes = channels * height * width;
  const neutron_test::Dims dims = {1, height, width, channels};
  using neutron::Memory;
  neutron::KernelRecord& record =
      list.kernel(neutron::Kernel::kTable,
                  {neutron_test::dense_view(Memory::kInput, list.input(bytes), 0, dims)},
                  neutron_test::dense_view(Memory::kOutput, list.output(bytes), 0, dims));
  record.table = list.codes(std::vector<int8_t>(256, 1));
  list.inputs[0] = list.outputs[0] = {4, 1, 0, {1, channels, height, width, 1, 1}, 0.5F, -3, bytes};
  CallFile file = neutron_test::file_of(list);
  file.inputs[0].last = file.outputs[0].last = last;
  return file;
}

/// Counts the instructions of one run with an empty driver, which leaves only our code.
long call_instructions(const CallFile& file) {
  for (size_t i = 0; i < file.inputs.size(); ++i) {
    write_file("x" + std::to_string(i), FileBytes(file.inputs[i].bytes()));
  }
  const auto result = run_file(written(file), file.inputs.size(), {"-0"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  return counted(read_file("counts"), "run 0");
}

TEST(Neutron, CallInstructionsStayBelowLimit) {
  struct Case {
    const char* name;
    CallFile file;
  };
  for (const Case& each :
       {Case{"1 input, 1 output", image_file(3, 4, 5, true)},
        Case{"2 inputs, 2 outputs", neutron_test::file_of(neutron_test::sample_list())}}) {
    const long call = call_instructions(each.file);
    EXPECT_GT(call, 50) << each.name;
    EXPECT_LT(call, kCallInstructionsMax) << each.name;
    RecordProperty(each.name, static_cast<int>(call));
    std::printf("a run that is one call of the delegate, %s: %ld instructions of the M33\n",
                each.name, call);
  }
}

/// The memory order of the images in the file differs from that of the network.
TEST(Neutron, ReorderingCostsAtMostThreeInstructionsPerByte) {
  for (const auto& [channels, side] : {std::pair<uint32_t, uint32_t>{32, 16}, {3, 96}, {10, 30}}) {
    const CallFile turned = image_file(channels, side, side, false);
    const long passed = call_instructions(image_file(channels, side, side, true));
    const long cost = call_instructions(turned) - passed;
    const double bytes = 2.0 * turned.inputs[0].bytes();
    std::printf("another order of %u channels of %u x %u: %.2f instructions a byte\n", channels,
                side, side, static_cast<double>(cost) / bytes);
    EXPECT_GT(static_cast<double>(cost), bytes / 2);
    const double most = channels % 4 == 0 ? kTurnInstructionsMax : kTurnInstructionsMaxOdd;
    EXPECT_LT(static_cast<double>(cost), most * bytes);
  }
}

}  // namespace
}  // namespace thimble::firmware_test
