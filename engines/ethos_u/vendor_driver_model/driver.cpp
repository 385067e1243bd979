// SPDX-License-Identifier: Apache-2.0
// Arm's driver interface, implemented by the simulator (include/ethosu_driver.h). As in Arm's
// driver, drivers are registered in a list, a payload must be for the NPU, all addresses are
// multiples of 16, the driver's fast memory replaces the third base address, and caches are cleaned
// before and invalidated after a run.

#include "ethosu_driver.h"

#include "abi/freestanding.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/device.h"

namespace {

namespace isa = thimble::ethos_u;
namespace reg = thimble::ethos_u::reg;
namespace sim = thimble::ethos_u::sim;

constexpr int kFastMemoryIndex = 2;

ethosu_driver* registered;
alignas(sim::Device) unsigned char device_storage[sizeof(sim::Device)];

const isa::Config* config_of(const ethosu_driver& driver) {
  return isa::find_config(driver.npu->configuration);
}

void write_address(sim::Device& device, uint32_t offset, uint64_t address) {
  device.write(offset, static_cast<uint32_t>(address));
  device.write(offset + 4, static_cast<uint32_t>(address >> 32));
}

bool same_npu(const isa::Config& config, const isa::DriverPayload& header) {
  const uint32_t own = isa::config_word(config), own_id = isa::id_word(config.generation);
  return isa::product_of(own) == isa::product_of(header.config) &&
         isa::macs_log2_of(own) == isa::macs_log2_of(header.config) &&
         isa::stream_version_of(own) == isa::stream_version_of(header.config) &&
         isa::arch_major_of(own_id) == isa::arch_major_of(header.id) &&
         isa::arch_minor_of(own_id) >= isa::arch_minor_of(header.id);
}

/// Connects the memory that the NPU may access, and runs the stream to its end.
bool run(const ethosu_driver& driver, const isa::Config& config, const uint8_t* payload,
         uint32_t payload_bytes, const isa::DriverPayload& header, const uint64_t* addresses,
         const size_t* sizes, int count) {
  auto& device = *new (thimble::abi::Place{device_storage}) sim::Device(
      config, static_cast<uint8_t*>(driver.npu->workspace), driver.npu->workspace_bytes);
  bool connected = device.connect({const_cast<uint8_t*>(payload), payload_bytes, true});
  for (int i = 0; i < count; ++i) {
    auto* const data = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(addresses[i]));
    // Base 0 has the constants, which may be in flash.
    if (sizes[i] != 0) connected = device.connect({data, sizes[i], i == 0}) && connected;
    write_address(device, reg::kBase0 + 8 * static_cast<uint32_t>(i), addresses[i]);
  }
  if (!connected) return false;
  write_address(device, reg::kQueueBase,
                reinterpret_cast<uintptr_t>(payload + header.stream_offset));
  device.write(reg::kQueueBytes, header.stream_words * 4);
  device.write(reg::kCommand, reg::kRun);
  const uint32_t status = device.read(reg::kStatus);
  return (status & reg::kEndReached) != 0 && (status & reg::kFaults) == 0;
}

}  // namespace

extern "C" {

#define THIMBLE_WEAK __attribute__((weak))
THIMBLE_WEAK void ethosu_flush_dcache(const uint64_t*, const size_t*, int) {}
THIMBLE_WEAK void ethosu_invalidate_dcache(const uint64_t*, const size_t*, int) {}
THIMBLE_WEAK void ethosu_inference_begin(ethosu_driver*, void*) {}
THIMBLE_WEAK void ethosu_inference_end(ethosu_driver*, void*) {}

int ethosu_init(ethosu_driver* drv, void* const base_address, const void* fast_memory,
                const size_t fast_memory_size, uint32_t, uint32_t) {
  *drv = {};
  drv->npu = static_cast<const thimble_simulated_npu*>(base_address);
  if (config_of(*drv) == nullptr) return -1;
  drv->fast_memory = reinterpret_cast<uintptr_t>(fast_memory);
  drv->fast_memory_size = fast_memory_size;
  drv->next = registered;
  registered = drv;
  return 0;
}

void ethosu_deinit(ethosu_driver* drv) {
  for (ethosu_driver** at = &registered; *at != nullptr; at = &(*at)->next) {
    if (*at != drv) continue;
    *at = drv->next;
    return;
  }
}

ethosu_driver* ethosu_reserve_driver(void) {
  for (ethosu_driver* drv = registered; drv != nullptr; drv = drv->next) {
    if (drv->reserved) continue;
    drv->reserved = true;
    return drv;
  }
  return nullptr;
}

void ethosu_release_driver(ethosu_driver* drv) {
  drv->reserved = false;
}

void ethosu_get_hw_info(ethosu_driver* drv, ethosu_hw_info* hw) {
  const isa::Config& config = *config_of(*drv);
  const uint32_t word = isa::config_word(config), id = isa::id_word(config.generation);
  *hw = {};
  hw->version.arch_major_rev = isa::arch_major_of(id);
  hw->version.arch_minor_rev = isa::arch_minor_of(id);
  hw->version.arch_patch_rev = id >> 16 & 15;
  hw->cfg.macs_per_cc = isa::macs_log2_of(word);
  hw->cfg.cmd_stream_version = isa::stream_version_of(word);
  hw->cfg.custom_dma = isa::custom_dma_of(word) ? 1 : 0;
}

int ethosu_invoke_async(ethosu_driver* drv, const void* custom_data_ptr, const int custom_data_size,
                        uint64_t* const base_addr, const size_t* base_addr_size,
                        const int num_base_addr, void* user_arg) {
  const auto* const payload = static_cast<const uint8_t*>(custom_data_ptr);
  const auto payload_bytes = static_cast<uint32_t>(custom_data_size);
  const isa::Config& config = *config_of(*drv);
  if (drv->fast_memory != 0 && num_base_addr > kFastMemoryIndex) {
    if (base_addr_size[kFastMemoryIndex] > drv->fast_memory_size) return -1;
    base_addr[kFastMemoryIndex] = drv->fast_memory;
  }
  isa::DriverPayload header;
  if (custom_data_size < 0 || !isa::read_driver_payload(payload, payload_bytes, header) ||
      header.cop_version != 1 || !same_npu(config, header)) {
    return -1;
  }
  for (int i = 0; i < num_base_addr; ++i) {
    if (base_addr[i] % isa::kStreamAlignment != 0) return -1;
  }
  ethosu_flush_dcache(base_addr, base_addr_size, num_base_addr);
  ethosu_inference_begin(drv, user_arg);
  drv->done =
      run(*drv, config, payload, payload_bytes, header, base_addr, base_addr_size, num_base_addr);
  drv->base_addr = base_addr;
  drv->base_addr_size = base_addr_size;
  drv->num_base_addr = num_base_addr;
  drv->user_arg = user_arg;
  return 0;
}

int ethosu_wait(ethosu_driver* drv, bool) {
  constexpr int kNotStarted = -2;
  if (drv->base_addr == nullptr) return kNotStarted;
  ethosu_invalidate_dcache(drv->base_addr, drv->base_addr_size, drv->num_base_addr);
  ethosu_inference_end(drv, drv->user_arg);
  drv->base_addr = nullptr;
  return drv->done ? 0 : -1;
}

int ethosu_invoke_v3(ethosu_driver* drv, const void* custom_data_ptr, const int custom_data_size,
                     uint64_t* const base_addr, const size_t* base_addr_size,
                     const int num_base_addr, void* user_arg) {
  const int failed = ethosu_invoke_async(drv, custom_data_ptr, custom_data_size, base_addr,
                                         base_addr_size, num_base_addr, user_arg);
  return failed != 0 ? failed : ethosu_wait(drv, true);
}

}  // extern "C"
