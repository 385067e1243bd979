// SPDX-License-Identifier: Apache-2.0
// Files with calls of an NPU on the emulated board. The firmware's driver writes the registers of
// the simulated NPU, and every output byte must equal the host's.

#include <cstring>
#include <random>

#include "../unit/test_files.h"
#include "abi/status.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/hostrun/ethos_u.h"
#include "formats/pte/read.h"
#include "formats/pte/write.h"
#include "hostrun/host.h"
#include "support.h"
#include "tests/folders.h"

namespace thimble::firmware_test {
namespace {

namespace fs = std::filesystem;

constexpr Core kM55 = {"cortex-m55", "mps3-an547", Isa::kMve};
constexpr size_t kCalls = 2;

std::vector<fs::path> files() {
  return test::pte_files_in(test::source_folder() / "tests/data/executorch/ethos_u");
}

ir::Tensor random_tensor(const hostrun::Port& port, std::mt19937& random) {
  ir::Tensor tensor;
  tensor.dtype = port.dtype;
  tensor.shape = port.shape;
  tensor.bytes.resize(port.bytes());
  std::normal_distribution<float> normal;
  for (size_t at = 0; at + 4 <= tensor.bytes.size(); at += 4) {
    const float number = normal(random);
    std::memcpy(tensor.bytes.data() + at, &number, 4);
  }
  return tensor;
}

/// Words of the command line that precede the model's name.
std::vector<std::string> npu_words(const Bytes& file, const std::string& name) {
  const auto program = formats::pte::read(file, name);
  EXPECT_TRUE(program.ok()) << name;
  const auto needs = hostrun::read_ethos_u_needs(*program, name);
  EXPECT_TRUE(needs.ok() && needs->has_value()) << name;
  const hostrun::EthosUNeeds& npu = **needs;
  return {"runner", "-n", npu.config->name, std::to_string(npu.workspace_bytes),
          std::to_string(npu.fast_bytes)};
}

base::ProcessResult run_file(const Bytes& file, const std::string& name, size_t inputs) {
  write_file("model.pte", file);
  std::vector<std::string> words = npu_words(file, name);
  words.push_back("model.pte");
  for (size_t i = 0; i < inputs; ++i) words.push_back("x" + std::to_string(i));
  words.push_back("y");
  return run({image("runner-ethos-u", kM55), kM55.machine, std::move(words), ""});
}

TEST(Npu, OutputsEqualHost) {
  std::mt19937 random(5);
  for (const fs::path& path : files()) {
    const std::string name = path.stem().string();
    SCOPED_TRACE(name);
    const Bytes file = test::read_bytes(path);
    auto host = hostrun::HostModel::load(file, name);
    ASSERT_TRUE(host.ok()) << host.error().message;
    const hostrun::Interface& interface = host->interface();
    std::vector<Bytes> inputs(interface.inputs.size()), outputs(interface.outputs.size());
    for (size_t call = 0; call < kCalls; ++call) {
      std::vector<ir::Tensor> tensors;
      for (const hostrun::Port& port : interface.inputs) {
        tensors.push_back(random_tensor(port, random));
        append(inputs[tensors.size() - 1], ir::to_memory(tensors.back(), port.dim_order));
      }
      const auto answers = host->run(tensors);
      ASSERT_TRUE(answers.ok()) << answers.error().message;
      for (size_t i = 0; i < outputs.size(); ++i) {
        append(outputs[i], ir::to_memory((*answers)[i], interface.outputs[i].dim_order));
      }
    }
    for (size_t i = 0; i < inputs.size(); ++i) write_file("x" + std::to_string(i), inputs[i]);
    const auto result = run_file(file, name, inputs.size());
    ASSERT_EQ(result.exit_code, 0) << result.output;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string got = read_file("y_" + std::to_string(i) + ".bin");
      EXPECT_TRUE(got == as_text(outputs[i])) << i;
    }
    const std::string report = read_file("y.txt");
    EXPECT_NE(report.find(" EthosUBackend\n"), std::string::npos) << report;
  }
}

/// An output address outside the memory makes the run return kNpuFault.
TEST(Npu, FaultReturnsStatus) {
  const fs::path path = files().front();
  auto program = formats::pte::read(test::read_bytes(path), "broken");
  ASSERT_TRUE(program.ok());
  auto payload = formats::ethos_u::read_payload(program->delegate_blobs[0].bytes);
  ASSERT_TRUE(payload.ok());
  // OFM_BASE0, a command with a payload: 0x4010. The new high byte puts it outside the memory.
  size_t found = 0;
  for (size_t at = 32; at + 8 <= payload->commands.size(); at += 4) {
    if (load_le<uint32_t>(payload->commands, at) != 0x00004010) continue;
    payload->commands[at + 7] = std::byte{0x7F};
    ++found;
  }
  ASSERT_GT(found, 0U);
  auto blob = formats::ethos_u::write_payload(*payload);
  ASSERT_TRUE(blob.ok());
  program->delegate_blobs[0].bytes = std::move(*blob);
  const auto file = formats::pte::write(*program);
  ASSERT_TRUE(file.ok());
  const auto host = hostrun::HostModel::load(*file, "broken");
  ASSERT_TRUE(host.ok()) << host.error().message;
  const auto& inputs = host->interface().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    write_file("x" + std::to_string(i), Bytes(inputs[i].bytes()));
  }
  const auto result = run_file(*file, "broken", inputs.size());
  EXPECT_EQ(result.exit_code, 1) << result.output;
  const std::string status = std::to_string(static_cast<int>(abi::Status::kNpuFault));
  EXPECT_NE(read_file("y.txt").find("status " + status + " "), std::string::npos)
      << read_file("y.txt");
}

}  // namespace
}  // namespace thimble::firmware_test
