// SPDX-License-Identifier: Apache-2.0
#include "neutron_test_driver.h"

#include <gtest/gtest.h>

#include <cstring>

namespace thimble::neutron_test {
namespace {

constexpr uint8_t kFillByte = 0xEE;

NeutronError called(const char* name) {
  driver().log += std::string(name) + " ";
  return driver().failing == name ? driver().error : NEUTRON_NO_ERROR;
}

/// Returns the byte that fills a context: it identifies the network.
uint8_t context_mark(size_t network) {
  return static_cast<uint8_t>(0x40 + network);
}

void fill(void* memory, uint32_t bytes) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 16, 0U);
  if (bytes != 0) std::memset(memory, kFillByte, bytes);
}

void run_once(const NeutronDataConfig& data) {
  TestDriver& me = driver();
  me.data = data;
  me.inputs.assign(data.inputs, data.inputs + me.input_bytes.size());
  me.outputs.assign(data.outputs, data.outputs + me.output_bytes.size() + 3);
  for (size_t i = 0; i < me.contexts.size(); ++i) {
    for (size_t k = 0; k < me.context_bytes; ++k) {
      me.intact = me.intact && me.contexts[i][k] == context_mark(i);
    }
  }
  std::vector<std::vector<uint8_t>> inputs;
  for (size_t i = 0; i < me.input_bytes.size(); ++i) {
    const auto* const bytes = static_cast<const uint8_t*>(data.inputs[i]);
    inputs.emplace_back(bytes, bytes + me.input_bytes[i]);
  }
  void** const more = data.outputs + me.output_bytes.size();
  fill(more[0], me.scratch_bytes);
  fill(more[1], me.profile_bytes);
  fill(more[2], me.debug_bytes);
  EXPECT_EQ(data.scratch, more[0]);
  const bool fetches = me.knows_prefetch ? me.prefetch_bytes != 0 : data.scratchWeights != nullptr;
  EXPECT_EQ(data.scratchWeights != nullptr, fetches);
  if (data.scratchWeights != nullptr) fill(data.scratchWeights, me.prefetch_bytes);
  for (uint32_t i = 0; i < me.output_bytes.size(); ++i) {
    auto* const to = static_cast<uint8_t*>(data.outputs[i]);
    for (size_t k = 0; k < me.output_bytes[i]; ++k) to[k] = made(i, k, inputs);
  }
}

}  // namespace

TestDriver& driver() {
  static TestDriver instance;
  return instance;
}

uint8_t made(uint32_t output, size_t k, const std::vector<std::vector<uint8_t>>& inputs) {
  size_t value = output + 5 * k;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].empty()) value += (2 * i + 1) * inputs[i][k % inputs[i].size()];
  }
  return static_cast<uint8_t>(value);
}

}  // namespace thimble::neutron_test

using namespace thimble::neutron_test;

extern "C" {

NeutronError neutronInit(void) {
  return called("init");
}
NeutronError neutronDeinit(void) {
  return called("deinit");
}
size_t neutronGetModelContextSize(void) {
  return driver().context_bytes;
}

NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* handle) {
  driver().model = *config;
  auto* const context = static_cast<uint8_t*>(*handle);
  EXPECT_NE(context, nullptr) << "the driver has no heap";
  std::memset(context, context_mark(driver().contexts.size()), driver().context_bytes);
  driver().contexts.push_back(context);
  return called("prepare");
}
NeutronError neutronModelUnprepare(NeutronModelHandle handle) {
  std::erase(driver().contexts, static_cast<uint8_t*>(handle));
  return called("unprepare");
}
NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* config) {
  EXPECT_NE(handle, nullptr);
  run_once(*config);
  return called("run");
}
NeutronError neutronSuspend(void) {
  return called("suspend");
}
NeutronError neutronResume(void) {
  return called("resume");
}
NeutronError neutronSetConfig(NeutronConfig* config) {
  driver().hooks = config;
  return called("config");
}

}  // extern "C"
