// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_ETHOS_U_H
#define THIMBLE_ETHOS_U_H
/* Describes the Ethos-U of a product. Required for files that contain calls of the delegate
 * EthosUBackend. The product defines the address of the NPU's registers:
 *
 *   const thimble_ethos_u thimble_npu = {.base = 0x48102000};
 *
 * and the table that `thimble compile --kernels` writes refers to it. The NPU reads command streams
 * and constants in place from the file. Scratch is a part of the arena. The NPU must have access to
 * both memories. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Assignment of memories to AXI ports; the values are those of abi/named_data.h. */
enum {
  THIMBLE_MEMORY_BY_FILE = 0, /* the mode recorded in the file; Shared_Sram if none is recorded */
  THIMBLE_SRAM_ONLY = 1,
  THIMBLE_SHARED_SRAM = 2,
  THIMBLE_DEDICATED_SRAM = 3
};

typedef struct thimble_ethos_u {
  uintptr_t base; /* of the registers; unused if the two functions below are set */
  /* Register access other than through memory: a simulator, a test. Null on hardware. */
  uint32_t (*read)(void* user, uint32_t offset);
  void (*write)(void* user, uint32_t offset, uint32_t value);
  void* user;
  void* fast_memory; /* SRAM for Dedicated_Sram, 16-byte aligned; null if the part has none */
  uint32_t fast_bytes;
  uint32_t polls;       /* status reads before kNpuTimeout; 0: 2^28 */
  uint8_t memory_mode;  /* THIMBLE_... */
  uint8_t non_secure;   /* 1: the NPU's bus accesses are non-secure */
  uint8_t unprivileged; /* 1: the NPU's bus accesses are unprivileged */
} thimble_ethos_u;

extern const thimble_ethos_u thimble_npu;

/* Platform hooks around a run. All are weak and do nothing, except that `address` returns the value
 * of the pointer. A product replaces those that it needs. One run calls, in this order: lock;
 * clean, for the stream, the constants (if any), scratch, fast scratch (if any); address, for the
 * same buffers; wait, any number of times; fault, if the run failed; invalidate, for scratch and
 * fast scratch; unlock. */
void thimble_ethos_u_lock(const thimble_ethos_u* npu);
void thimble_ethos_u_unlock(const thimble_ethos_u* npu);
/* Writes cached bytes back to memory, where the NPU can read them. */
void thimble_ethos_u_clean(const thimble_ethos_u* npu, const void* data, size_t bytes);
/* Invalidates cached bytes, so that the CPU reads what the NPU wrote. */
void thimble_ethos_u_invalidate(const thimble_ethos_u* npu, void* data, size_t bytes);
/* Waits for the NPU's interrupt or for any shorter time. The driver polls the status after each
 * call. */
void thimble_ethos_u_wait(const thimble_ethos_u* npu);
/* Returns the bus address that the NPU must use for the CPU address `data`. */
uint64_t thimble_ethos_u_address(const thimble_ethos_u* npu, const void* data);
/* Called after a failed run with the registers STATUS and QREAD. */
void thimble_ethos_u_fault(const thimble_ethos_u* npu, uint32_t status, uint32_t read_position);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_ETHOS_U_H */
