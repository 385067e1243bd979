// SPDX-License-Identifier: Apache-2.0
// Files with microcode, as `thimble compile --neutron sdk` writes them, in the runtime with a test
// driver. load_test.py makes the files and names them in THIMBLE_NEUTRON_FILES.

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "../unit/neutron_test_driver.h"
#include "../unit/runtime_support.h"
#include "../unit/test_files.h"
#include "engines/neutron/delegate/backend.h"
#include "engines/neutron/formats/payload.h"
#include "formats/pte/read.h"

namespace thimble::neutron_test {
namespace {

namespace pte = formats::pte;

/// Returns the arena offset of a call's argument; nothing if the caller provides its memory.
std::optional<uint64_t> place_of(const pte::Program& program, int32_t value) {
  const auto& tensor = std::get<pte::Tensor>(program.plans[0].values[static_cast<size_t>(value)]);
  if (!tensor.allocation) return std::nullopt;
  return tensor.allocation->offset;
}
uint32_t bytes_of(const pte::Program& program, int32_t value) {
  const auto& tensor = std::get<pte::Tensor>(program.plans[0].values[static_cast<size_t>(value)]);
  return static_cast<uint32_t>(pte::data_bytes(tensor).value_or(0));
}

/// Returns the arguments of the program's only call.
std::vector<int32_t> args_of_call(const pte::Program& program) {
  for (const pte::Instruction& instruction : program.plans[0].chains[0].instructions) {
    if (const auto* call = std::get_if<pte::DelegateCall>(&instruction)) return call->args;
  }
  return {};
}

void check_file(const std::filesystem::path& path) {
  const Bytes bytes = test::read_bytes(path);
  const auto program = pte::read(bytes, path.string());
  ASSERT_TRUE(program.ok()) << program.error().message;
  ASSERT_EQ(program->plans[0].delegates[0].id, "NeutronBackend");
  const Bytes& blob = program->delegate_blobs[0].bytes;
  ASSERT_TRUE(formats::neutron::verify_payload(blob).ok());
  const auto payload = formats::neutron::read_payload(blob);
  const std::vector<int32_t> args = args_of_call(*program);
  ASSERT_EQ(args.size(), size_t{payload->arg_count} + payload->output_map.size());
  driver() = {};
  driver().knows_prefetch = false;
  std::vector<int32_t> inputs, outputs;
  for (const uint8_t i : payload->input_map) inputs.push_back(args[i]);
  for (const uint8_t i : payload->output_map) outputs.push_back(args[payload->arg_count + i]);
  for (const int32_t value : inputs) driver().input_bytes.push_back(bytes_of(*program, value));
  for (const int32_t value : outputs) driver().output_bytes.push_back(bytes_of(*program, value));

  const thimble_neutron npu = {};
  const runtime::DelegateBackend row = runtime::neutron::vendor_backend(&npu);
  const runtime::DelegateBackends delegates = runtime::delegates_of(&row, 1);
  kernels::KernelTable table = kernels::all_kernels();
  table.delegates = &delegates;
  runtime_test::LoadedModel loaded(bytes, reinterpret_cast<const thimble_kernels*>(&table));
  ASSERT_EQ(loaded.status, 0) << thimble_status_text(loaded.status);
  ASSERT_EQ(runtime_test::run_with_input_buffers(loaded), 0);
  EXPECT_EQ(driver().log, "prepare run ");
  // Tensors are passed at their planned offsets, without a copy and without a transposition.
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto place = place_of(*program, inputs[i]);
    if (!place) continue;
    EXPECT_EQ(driver().inputs[i], loaded.memory->data() + *place);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto place = place_of(*program, outputs[i]);
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(driver().outputs[i], loaded.memory->data() + *place);
  }
}

TEST(NeutronMicrocode, FilesLoadAndRun) {
  const char* const folder = std::getenv("THIMBLE_NEUTRON_FILES");
  ASSERT_NE(folder, nullptr) << "load_test.py names the files";
  const auto files = test::pte_files_in(folder);
  EXPECT_GE(files.size(), 4U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    check_file(path);
  }
}

}  // namespace
}  // namespace thimble::neutron_test
