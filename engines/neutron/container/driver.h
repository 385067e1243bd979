#ifndef THIMBLE_NPU_NEUTRON_DRIVER_H
#define THIMBLE_NPU_NEUTRON_DRIVER_H
/* The driver interface of the Neutron NPU, as its vendor publishes it: names, types and meanings
 * are theirs, so that a product links the vendor's library or the integer model of
 * engines/neutron/model without a change (docs/neutron.md, "Driver"). Calls that exist for the larger
 * Neutron-S alone are left out.
 *
 * Order: neutronInit once, by the application; neutronModelPrepare per network; neutronRunBlocking
 * per inference, between neutronResume and neutronSuspend if the clock is to stop meanwhile. */

#include <stddef.h>
#include <stdint.h>

/* The vendor's software has had a name in NeutronModelConfig since 3.0; ExecuTorch's copy of the
 * declarations does not. The name is the last field, so a library of either age finds what it looks
 * for in the longer structure. 0 makes the shorter one, for code that compares sizes. */
#ifndef THIMBLE_NEUTRON_SUBGRAPH_NAME
#define THIMBLE_NEUTRON_SUBGRAPH_NAME 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or from the lowest bit on: 3 bits component, 5 bits category, 23 bits code. */
typedef int32_t NeutronError;
#define NEUTRON_NO_ERROR 0
#define NEUTRON_ERROR_COMPONENT(error) ((uint32_t)(error)&7U)
#define NEUTRON_ERROR_CATEGORY(error) ((uint32_t)(error) >> 3 & 31U)
#define NEUTRON_ERROR_CODE(error) ((uint32_t)(error) >> 8 & 0x7FFFFFU)
enum { NEUTRON_OF_LIBRARY = 1, NEUTRON_OF_FIRMWARE = 2, NEUTRON_OF_DRIVER = 3 };

/* Categories of the integer model, with component NEUTRON_OF_DRIVER. The vendor's driver has such
 * kinds too; their numbers are not published. */
enum {
  NEUTRON_MODEL_NOT_READY = 1, /* before neutronInit, or while the clock is stopped */
  NEUTRON_MODEL_MICROCODE = 2, /* microcode, which only the NPU executes */
  NEUTRON_MODEL_PROGRAM = 3,   /* a list of kernels that is refused; the code says why: Status */
  NEUTRON_MODEL_HANDLE = 4,    /* no handle that it made */
  NEUTRON_MODEL_MEMORY = 5     /* no memory for the network: it has no heap */
};

/* A prepared network; null is none. */
typedef void* NeutronModelHandle;

/* The three blocks at multiples of 16, which stay where they are while the network is in use. */
typedef struct {
  const void* microcode;
  const void* weights;
  const void* kernels;
  uint32_t timeoutSeconds; /* of a run */
#if THIMBLE_NEUTRON_SUBGRAPH_NAME
  const char* subgraphName; /* for messages; may be null */
#endif
} NeutronModelConfig;

/* Of one run. Behind the network's outputs `outputs` has three more: its scratch, profile and debug
 * memories. */
typedef struct {
  const void** inputs;
  void** outputs;
  void* scratch;
  void* scratchWeights; /* where weights are brought before they are read */
} NeutronDataConfig;

/* What the application does for the driver. The NPU does not read flash: `copy` starts to bring
 * bytes to SRAM and may return before they are there; `wait` returns when the last copy of its
 * channel is complete. */
typedef struct {
  void (*copy)(void* to, void* from, uint32_t bytes, uint32_t channel);
  void (*wait)(uint32_t channel);
} NeutronConfig;

NeutronError neutronInit(void);
NeutronError neutronDeinit(void);

/* *handle is memory of neutronGetModelContextSize() bytes that lasts until the network is no longer
 * in use, or null: the driver takes it from a heap. */
NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* handle);
NeutronError neutronModelUnprepare(NeutronModelHandle handle);
size_t neutronGetModelContextSize(void);

/* Returns when the outputs are there. */
NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* config);

/* Stop and start the NPU's clock. */
NeutronError neutronSuspend(void);
NeutronError neutronResume(void);

/* `config` lasts as long as networks run. */
NeutronError neutronSetConfig(NeutronConfig* config);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_NPU_NEUTRON_DRIVER_H */
