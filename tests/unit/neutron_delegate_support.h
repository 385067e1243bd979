// SPDX-License-Identifier: Apache-2.0
#pragma once
// A product with the Neutron's delegates and a test driver, and a file with one call.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engines/neutron/delegate/backend.h"
#include "neutron_program.h"
#include "neutron_test_driver.h"
#include "runtime_support.h"

namespace thimble::neutron_test {

using formats::neutron::MemoryOrder;
using runtime_test::LoadedModel;
using runtime_test::plan_of;
using runtime_test::tensor_of;
using runtime_test::written;
using Data = std::vector<uint8_t>;

/// The NPU and the kernel table of a product.
struct Npu {
  Npu() {
    driver() = {};
    npu.error = &error;
    npu.networks = networks.data();
    npu.network_count = 2;
    table.delegates = &delegates;
  }
  Npu(const Npu&) = delete;
  [[nodiscard]] const thimble_kernels* kernels() const {
    return reinterpret_cast<const thimble_kernels*>(&table);
  }
  int32_t error = 0;
  std::array<thimble_neutron_network, 2> networks = {};
  thimble_neutron npu = {};
  std::array<runtime::DelegateBackend, 2> rows = {runtime::neutron::backend(&npu),
                                                  runtime::neutron::vendor_backend(&npu)};
  runtime::DelegateBackends delegates = runtime::delegates_of(rows.data(), 2);
  kernels::KernelTable table = kernels::all_kernels();
};

inline constexpr uint32_t kWeightBytes = 20;

/// Returns a file with one image input and one vector output, payload version 1.
inline CallFile simple_file() {
  CallFile file;
  file.inputs = {{{1, 3, 4, 5}}};
  file.outputs = {{{1, 7}}};
  file.payload.input_formats = {MemoryOrder::kRowMajor};
  file.payload.output_formats = {MemoryOrder::kRowMajor};
  file.payload.input_map = {0};
  file.payload.output_map = {0};
  file.payload.arg_count = 1;
  file.payload.program = microcode(1, 1, 1, kWeightBytes);
  file.payload.weights = Bytes(kWeightBytes, std::byte{0x77});
  file.payload.kernels = Bytes(16, std::byte{0x88});
  return file;
}

/// Sets the sizes that a real driver would read in the microcode.
inline void set_network_sizes(const CallFile& file, const MicrocodeWords& words = {}) {
  TestDriver& me = driver();
  me.input_bytes.clear();
  me.output_bytes.clear();
  for (const uint8_t argument : file.payload.input_map) {
    me.input_bytes.push_back(file.inputs[argument].bytes());
  }
  for (const uint8_t output : file.payload.output_map) {
    me.output_bytes.push_back(file.outputs[output].bytes());
  }
  me.scratch_bytes = words.scratch;
  me.profile_bytes = words.profile;
  me.debug_bytes = words.debug;
  me.prefetch_bytes = words.prefetch;
}

/// Runs the loaded file on these inputs, each in the file's memory order.
inline thimble_status run(LoadedModel& loaded, const std::vector<Data>& inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto status = thimble_set_input(&loaded.model, i, inputs[i].data(), inputs[i].size());
    if (status != 0) return status;
  }
  return thimble_run(&loaded.model);
}

}  // namespace thimble::neutron_test
