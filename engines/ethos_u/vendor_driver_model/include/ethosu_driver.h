// SPDX-License-Identifier: Apache-2.0
#ifndef ETHOSU_DRIVER_H
#define ETHOSU_DRIVER_H
/* The interface of Arm's ethos-u-core-driver with the simulator in place of the NPU, for boards
 * without one: the application is compiled and linked as with Arm's driver. Only the functions that
 * a run needs exist; ethosu_invoke_async() simulates the whole run, and ethosu_wait() ends it.
 * Names and signatures are those of Arm's public header, version 1.0.0. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ethosu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ethosu_init receives its address in place of that of the registers. */
struct thimble_simulated_npu {
  const char* configuration; /* such as "ethos-u55-128" */
  void* workspace;           /* 16-byte aligned; 48 KiB suffice for the examples */
  size_t workspace_bytes;
};

struct ethosu_driver {
  const struct thimble_simulated_npu* npu;
  struct ethosu_driver* next;
  uint64_t fast_memory;
  size_t fast_memory_size;
  bool reserved;
  const uint64_t* base_addr; /* of the started run; null: none */
  const size_t* base_addr_size;
  int num_base_addr;
  void* user_arg;
  bool done; /* the started run ended without a fault */
};

/* Returns -1 if no configuration has the NPU's name. The driver is registered. */
int ethosu_init(struct ethosu_driver* drv, void* const base_address, const void* fast_memory,
                const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable);
void ethosu_deinit(struct ethosu_driver* drv);
void ethosu_get_hw_info(struct ethosu_driver* drv, struct ethosu_hw_info* hw);
/* The simulated NPU reads and writes the payload and the base addresses' memories only. */
int ethosu_invoke_v3(struct ethosu_driver* drv, const void* custom_data_ptr,
                     const int custom_data_size, uint64_t* const base_addr,
                     const size_t* base_addr_size, const int num_base_addr, void* user_arg);
int ethosu_invoke_async(struct ethosu_driver* drv, const void* custom_data_ptr,
                        const int custom_data_size, uint64_t* const base_addr,
                        const size_t* base_addr_size, const int num_base_addr, void* user_arg);
/* Returns 0 or -1 for the started run, and -2 if there is none. */
int ethosu_wait(struct ethosu_driver* drv, bool block);
/* Returns null if no driver is registered, or all are reserved. */
struct ethosu_driver* ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver* drv);

/* Hooks of the platform, weak as in Arm's driver. */
void ethosu_flush_dcache(const uint64_t* base_addr, const size_t* base_addr_size,
                         int num_base_addr);
void ethosu_invalidate_dcache(const uint64_t* base_addr, const size_t* base_addr_size,
                              int num_base_addr);
void ethosu_inference_begin(struct ethosu_driver* drv, void* user_arg);
void ethosu_inference_end(struct ethosu_driver* drv, void* user_arg);

#ifdef __cplusplus
}
#endif
#endif
