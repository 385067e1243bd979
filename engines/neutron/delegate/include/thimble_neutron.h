#ifndef THIMBLE_NEUTRON_H
#define THIMBLE_NEUTRON_H
/* The Neutron NPU of a product, for files with calls of the delegates ThimbleNeutronModel and
 * NeutronBackend. Both go through the driver interface that NXP publishes: the product links the
 * vendor's library, or Thimble's integer model of the NPU, and calls neutronInit() before it loads
 * a file. The product says how the NPU is used:
 *
 *   const thimble_neutron thimble_neutron_npu = {.gates_clock = 1};
 *
 * and the table that `thimble compile --kernels` writes names it. docs/neutron.md, "Driver". */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How weights come from a memory that the NPU does not read, as the driver calls it: `copy` starts
 * and may return before the bytes are there, `wait` returns when the last copy of its channel is
 * complete. With a DMA channel behind each, copies run while the NPU works. */
typedef struct thimble_neutron_memory {
  void (*copy)(void* to, void* from, uint32_t bytes, uint32_t channel);
  void (*wait)(uint32_t channel);
} thimble_neutron_memory;

/* One loaded network, for a product that counts calls or unloads networks. */
typedef struct thimble_neutron_network {
  const void* program; /* in the file: microcode, or a list of kernels; null: a free row */
  void* handle;        /* the driver's */
  uint64_t cycles;     /* of all calls by the compiler's estimate; microcode brings none */
  uint32_t calls;
} thimble_neutron_network;

typedef struct thimble_neutron thimble_neutron;
struct thimble_neutron {
  uint32_t timeout_seconds;      /* of one run; 0: 60, as ExecuTorch has it */
  uint32_t gates_clock;          /* not 0: the NPU's clock runs during calls only */
  thimble_neutron_memory memory; /* null: the driver's own way */
  int32_t* error;                /* gets the driver's code when it refuses a call; may be null */
  thimble_neutron_network* networks; /* null: nothing is counted */
  uint32_t network_count;            /* a file with more networks does not load */
  /* Called after a run of a network that was compiled for profiling; may be null. */
  void (*profiled)(const thimble_neutron* npu, const void* program, const void* records,
                   uint32_t bytes);
  void* user;
};

extern const thimble_neutron thimble_neutron_npu;

/* The CPU copies, and there is nothing to wait for. */
void thimble_neutron_copy(void* to, void* from, uint32_t bytes, uint32_t channel);
void thimble_neutron_wait(uint32_t channel);

/* Hands all networks back to the driver and frees their rows: before other files are loaded. */
void thimble_neutron_forget(const thimble_neutron* npu);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_NEUTRON_H */
