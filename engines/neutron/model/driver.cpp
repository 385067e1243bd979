// SPDX-License-Identifier: Apache-2.0
// Implements the driver interface with the integer model. The interface has no argument for the
// NPU, so its state is global: one NPU, as on the chip.

#include "engines/neutron/container/driver.h"

#include "engines/neutron/model/model.h"

namespace {

namespace neutron = thimble::neutron;

constexpr uint32_t kContextMagic = 0x50454E54;  // "TNEP"

/// The memory that a handle points to.
struct Context {
  uint32_t mark;
  const uint8_t* program;
  const uint8_t* weights;
};

struct Npu {
  bool initialized;
  bool clocked;
  NeutronConfig memory;
};
Npu the_npu;

NeutronError error(uint32_t category, uint32_t code = 0) {
  return static_cast<NeutronError>(uint32_t{NEUTRON_OF_DRIVER} | category << 3 | code << 8);
}

Context* context_of(NeutronModelHandle handle) {
  auto* const context = static_cast<Context*>(handle);
  return context != nullptr && context->mark == kContextMagic ? context : nullptr;
}

}  // namespace

extern "C" {

NeutronError neutronInit(void) {
  the_npu = {true, true, {nullptr, nullptr}};
  return NEUTRON_NO_ERROR;
}

NeutronError neutronDeinit(void) {
  the_npu = {};
  return NEUTRON_NO_ERROR;
}

size_t neutronGetModelContextSize(void) {
  return sizeof(Context);
}

NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* handle) {
  if (!the_npu.initialized) return error(NEUTRON_MODEL_NOT_READY);
  if (*handle == nullptr) return error(NEUTRON_MODEL_MEMORY);
  const auto* const program = static_cast<const uint8_t*>(config->microcode);
  const auto* const weights = static_cast<const uint8_t*>(config->weights);
  neutron::Header header;
  memcpy(&header, program, sizeof header.magic);
  if (header.magic != neutron::kMagic) return error(NEUTRON_MODEL_MICROCODE);
  memcpy(&header, program, sizeof header);
  uint32_t kernel;
  const neutron::Status status =
      neutron::check(program, header.program_bytes, weights, header.weight_bytes, kernel);
  if (status != neutron::Status::kOk) {
    return error(NEUTRON_MODEL_PROGRAM, static_cast<uint32_t>(status));
  }
  *static_cast<Context*>(*handle) = {kContextMagic, program, weights};
  return NEUTRON_NO_ERROR;
}

NeutronError neutronModelUnprepare(NeutronModelHandle handle) {
  Context* const context = context_of(handle);
  if (context == nullptr) return error(NEUTRON_MODEL_HANDLE);
  context->mark = 0;
  return NEUTRON_NO_ERROR;
}

NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* config) {
  const Context* const context = context_of(handle);
  if (!the_npu.clocked) return error(NEUTRON_MODEL_NOT_READY);
  if (context == nullptr) return error(NEUTRON_MODEL_HANDLE);
  neutron::Job job;
  job.program = neutron::Program(context->program);
  const neutron::Header header = job.program.header();
  void** const more = config->outputs + header.output_count;
  job.weights = context->weights;
  job.inputs = reinterpret_cast<const uint8_t* const*>(config->inputs);
  job.outputs = reinterpret_cast<uint8_t* const*>(config->outputs);
  job.scratch = static_cast<uint8_t*>(more[0]);
  job.prefetch = static_cast<uint8_t*>(config->scratchWeights);
  job.copy = the_npu.memory.copy;
  job.wait = the_npu.memory.wait;
  job.profile = header.profile_bytes != 0 ? static_cast<uint8_t*>(more[1]) : nullptr;
  neutron::run(job);
  return NEUTRON_NO_ERROR;
}

NeutronError neutronSuspend(void) {
  if (!the_npu.initialized) return error(NEUTRON_MODEL_NOT_READY);
  the_npu.clocked = false;
  return NEUTRON_NO_ERROR;
}

NeutronError neutronResume(void) {
  if (!the_npu.initialized) return error(NEUTRON_MODEL_NOT_READY);
  the_npu.clocked = true;
  return NEUTRON_NO_ERROR;
}

NeutronError neutronSetConfig(NeutronConfig* config) {
  if (!the_npu.initialized) return error(NEUTRON_MODEL_NOT_READY);
  the_npu.memory = *config;
  return NEUTRON_NO_ERROR;
}

}  // extern "C"
