// SPDX-License-Identifier: Apache-2.0
// Files made by ExecuTorch's own Ethos-U flow (tests/peers/executorch_ethos_u.py), whose command
// streams Vela compiled. They run in our runtime with its driver and the simulated NPU. The
// reference is the TOSA reference model on the graphs that Vela compiled; every bit must be equal.
// THIMBLE_ETHOS_U_FILES names another folder of such files.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/formats/payload.h"
#include "formats/pte/read.h"
#include "formats/pte/write.h"
#include "hostrun/host.h"
#include "recorded_calls.h"
#include "tests/folders.h"

namespace thimble {
namespace {

namespace fs = std::filesystem;
namespace pte = formats::pte;

fs::path folder() {
  const char* const other = std::getenv("THIMBLE_ETHOS_U_FILES");
  return other != nullptr ? fs::path(other)
                          : test::source_folder() / "tests/data/executorch/ethos_u";
}

using Case = test::RecordedFile;

std::vector<Case> cases() {
  return test::recorded_files_in(folder());
}

void expect_outputs(hostrun::HostModel& model, const Case& c) {
  ASSERT_FALSE(c.inputs.empty());
  for (size_t call = 0; call < c.inputs.size(); ++call) {
    const auto outputs = model.run(c.inputs[call]);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    ASSERT_EQ(outputs->size(), c.outputs[call].size());
    for (size_t i = 0; i < outputs->size(); ++i) {
      EXPECT_EQ((*outputs)[i].shape, c.outputs[call][i].shape) << call << " " << i;
      EXPECT_TRUE((*outputs)[i].bytes == c.outputs[call][i].bytes) << call << " " << i;
    }
  }
}

TEST(ExecuTorchEthosU, OutputsEqualTosaReferenceModel) {
  const std::vector<Case> all = cases();
  EXPECT_GE(all.size(), 6U);
  for (const Case& c : all) {
    SCOPED_TRACE(c.name);
    auto model = hostrun::HostModel::load(c.bytes, c.name);
    ASSERT_TRUE(model.ok()) << model.error().message;
    expect_outputs(*model, c);
  }
}

/// Our writer reproduces ExecuTorch's bytes from the result of our reader.
TEST(ExecuTorchEthosU, PayloadRoundTripKeepsBytes) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto program = pte::read(c.bytes, c.name);
    ASSERT_TRUE(program.ok()) << program.error().message;
    ASSERT_FALSE(program->delegate_blobs.empty());
    for (const pte::DelegateBlob& blob : program->delegate_blobs) {
      const auto payload = formats::ethos_u::read_payload(blob.bytes);
      ASSERT_TRUE(payload.ok()) << payload.error().message;
      const auto again = formats::ethos_u::write_payload(*payload);
      ASSERT_TRUE(again.ok()) << again.error().message;
      EXPECT_TRUE(*again == blob.bytes);
    }
  }
}

/// Returns the file with commands and constants as named data, the format's other storage variant.
Bytes external(const Case& c) {
  auto program = pte::read(c.bytes, c.name);
  EXPECT_TRUE(program.ok());
  for (pte::DelegateBlob& blob : program->delegate_blobs) {
    auto payload = formats::ethos_u::read_payload(blob.bytes);
    EXPECT_TRUE(payload.ok());
    payload->commands_key = formats::ethos_u::external_key("flash", payload->commands);
    payload->weights_key = formats::ethos_u::external_key("flash", payload->weights);
    program->named_data.push_back({*payload->commands_key, 16, payload->commands});
    program->named_data.push_back({*payload->weights_key, 16, payload->weights});
    auto bytes = formats::ethos_u::write_payload(*payload);
    EXPECT_TRUE(bytes.ok());
    blob.bytes = std::move(*bytes);
  }
  auto bytes = pte::write(*program);
  EXPECT_TRUE(bytes.ok());
  return std::move(*bytes);
}

TEST(ExecuTorchEthosU, NamedDataIsFoundByKey) {
  const Case c = test::read_recorded(folder() / "image_u55_128.pte");
  auto model = hostrun::HostModel::load(external(c), c.name);
  ASSERT_TRUE(model.ok()) << model.error().message;
  expect_outputs(*model, c);
}

TEST(ExecuTorchEthosU, ErrorNamesMissingData) {
  const Case c = test::read_recorded(folder() / "image_u55_128.pte");
  auto program = pte::read(external(c), c.name);
  ASSERT_TRUE(program.ok());
  program->named_data.pop_back();
  const auto bytes = pte::write(*program);
  ASSERT_TRUE(bytes.ok());
  const auto model = hostrun::HostModel::load(*bytes, c.name);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("named data"), std::string::npos) << model.error().message;
}

}  // namespace
}  // namespace thimble
