// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_NEUTRON_H
#define THIMBLE_NEUTRON_H
/* The Neutron NPU of a product, for files that call the delegates ThimbleNeutronModel and
 * NeutronBackend. Both use the driver interface that NXP publishes. The product links the vendor's
 * library or Thimble's integer model of the NPU, and calls neutronInit() before it loads a file. It
 * defines how the NPU is used:
 *
 *   const thimble_neutron thimble_neutron_npu = {.gates_clock = 1};
 *
 * The table that `thimble compile --kernels` writes refers to it. docs/neutron.md, "Driver". */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copy functions for weights in a memory that the NPU does not read; the driver calls them. `copy`
 * starts a copy and may return before it is complete. `wait` returns when the last copy of its
 * channel is complete. If each channel uses DMA, copies run while the NPU computes. */
typedef struct thimble_neutron_memory {
  void (*copy)(void* to, void* from, uint32_t bytes, uint32_t channel);
  void (*wait)(uint32_t channel);
} thimble_neutron_memory;

/* One loaded network, for products that count calls or unload networks. */
typedef struct thimble_neutron_network {
  const void* program; /* in the file: microcode or a kernel list; null: a free row */
  void* handle;        /* the driver's handle */
  uint64_t cycles;     /* estimated cycles of all calls; 0 for microcode */
  uint32_t calls;
} thimble_neutron_network;

typedef struct thimble_neutron thimble_neutron;
struct thimble_neutron {
  uint32_t timeout_seconds;          /* per run; 0: 60, the value of ExecuTorch */
  uint32_t gates_clock;              /* not 0: the NPU's clock runs during calls only */
  thimble_neutron_memory memory;     /* null: the driver's default functions */
  int32_t* error;                    /* receives the driver's error code; may be null */
  thimble_neutron_network* networks; /* null: no counting of calls, networks are not unloaded */
  uint32_t network_count;            /* a file with more networks does not load */
  /* Called after each run of a network that was compiled for profiling; may be null. */
  void (*profiled)(const thimble_neutron* npu, const void* program, const void* records,
                   uint32_t bytes);
  void* user;
};

extern const thimble_neutron thimble_neutron_npu;

/* Copy functions without DMA: the CPU copies, and there is nothing to wait for. */
void thimble_neutron_copy(void* to, void* from, uint32_t bytes, uint32_t channel);
void thimble_neutron_wait(uint32_t channel);

/* Returns all networks to the driver and frees their rows; must be called before other files are
 * loaded. */
void thimble_neutron_forget(const thimble_neutron* npu);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_NEUTRON_H */
