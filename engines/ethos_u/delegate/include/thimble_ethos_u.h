#ifndef THIMBLE_ETHOS_U_H
#define THIMBLE_ETHOS_U_H
/* The Ethos-U of a product, for files with calls of the delegate EthosUBackend. The product says
 * where the NPU is:
 *
 *   const thimble_ethos_u thimble_npu = {.base = 0x48102000};
 *
 * and the table that `thimble compile --kernels` writes names it. Command streams and constants are
 * read by the NPU from where the file lies, scratch is a part of the arena: all of it must be
 * memory that the NPU reaches. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which memory is behind which port; the values of abi/native_params.h. */
enum {
  THIMBLE_MEMORY_BY_FILE = 0, /* what the file was compiled for; Shared_Sram if it does not say */
  THIMBLE_SRAM_ONLY = 1,
  THIMBLE_SHARED_SRAM = 2,
  THIMBLE_DEDICATED_SRAM = 3
};

typedef struct thimble_ethos_u {
  uintptr_t base; /* of the registers; unused with the two functions below */
  /* Another way to the registers than memory: a simulator, a test. Null on hardware. */
  uint32_t (*read)(void* user, uint32_t offset);
  void (*write)(void* user, uint32_t offset, uint32_t value);
  void* user;
  void* fast_memory; /* SRAM for Dedicated_Sram, aligned to 16; null if there is none */
  uint32_t fast_bytes;
  uint32_t polls;       /* how often the status is read until kNpuTimeout; 0: 2^28 times */
  uint8_t memory_mode;  /* THIMBLE_... */
  uint8_t non_secure;   /* the NPU's bus accesses */
  uint8_t unprivileged; /* the same */
} thimble_ethos_u;

extern const thimble_ethos_u thimble_npu;

/* What a platform may have to do around a run. All are weak and do nothing (address: the address of
 * the pointer); a product replaces those that it needs. One run calls, in this order: lock; clean,
 * for the stream, the constants (if any), scratch, fast scratch (if any); address, for the same
 * pieces; wait, any number of times; fault, if there is one; invalidate, for scratch and fast
 * scratch; unlock. */
void thimble_ethos_u_lock(const thimble_ethos_u* npu);
void thimble_ethos_u_unlock(const thimble_ethos_u* npu);
/* Writes cached bytes back, so that the NPU sees them. */
void thimble_ethos_u_clean(const thimble_ethos_u* npu, const void* data, size_t bytes);
/* Drops cached bytes, so that the core sees what the NPU wrote. */
void thimble_ethos_u_invalidate(const thimble_ethos_u* npu, void* data, size_t bytes);
/* Sleeps until the NPU's interrupt, or any while; the driver looks at the status after each call.
 */
void thimble_ethos_u_wait(const thimble_ethos_u* npu);
/* The address at which the NPU sees what the core has at `data`. */
uint64_t thimble_ethos_u_address(const thimble_ethos_u* npu, const void* data);
/* The registers STATUS and QREAD of a run that failed. */
void thimble_ethos_u_fault(const thimble_ethos_u* npu, uint32_t status, uint32_t read_position);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_ETHOS_U_H */
