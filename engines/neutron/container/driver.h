// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_NPU_NEUTRON_DRIVER_H
#define THIMBLE_NPU_NEUTRON_DRIVER_H
/* The driver interface of the Neutron NPU, as its vendor publishes it: names, types and meanings
 * are theirs, so that a product links the vendor's library or the integer model of
 * engines/neutron/model without a change (docs/neutron.md, "Driver"). Calls that exist for the
 * larger Neutron-S alone are left out.
 *
 * Order of calls: neutronInit once, by the application; neutronModelPrepare once per network;
 * neutronRunBlocking once per inference. To stop the NPU's clock between inferences, call
 * neutronResume before and neutronSuspend after each run. */

#include <stddef.h>
#include <stdint.h>

/* Since version 3.0 of the vendor's software, NeutronModelConfig has a name. ExecuTorch's copy of
 * the declarations does not have it. The name is the last field, so both versions of the library
 * can read the longer structure. Define as 0 for the shorter structure, for code that compares
 * sizes. */
#ifndef THIMBLE_NEUTRON_SUBGRAPH_NAME
#define THIMBLE_NEUTRON_SUBGRAPH_NAME 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or bit fields from the lowest bit on: 3 bits component, 5 bits category, 23 bits code. */
typedef int32_t NeutronError;
#define NEUTRON_NO_ERROR 0
#define NEUTRON_ERROR_COMPONENT(error) ((uint32_t)(error)&7U)
#define NEUTRON_ERROR_CATEGORY(error) ((uint32_t)(error) >> 3 & 31U)
#define NEUTRON_ERROR_CODE(error) ((uint32_t)(error) >> 8 & 0x7FFFFFU)
enum { NEUTRON_OF_LIBRARY = 1, NEUTRON_OF_FIRMWARE = 2, NEUTRON_OF_DRIVER = 3 };

/* Error categories of the integer model, with component NEUTRON_OF_DRIVER. The numbers of the
 * vendor's driver are not published. */
enum {
  NEUTRON_MODEL_NOT_READY = 1, /* called before neutronInit, or while the clock is stopped */
  NEUTRON_MODEL_MICROCODE = 2, /* the program is microcode, which only the NPU can execute */
  NEUTRON_MODEL_PROGRAM = 3,   /* invalid kernel list; the code is its Status */
  NEUTRON_MODEL_HANDLE = 4,    /* the handle was not created by this driver */
  NEUTRON_MODEL_MEMORY = 5     /* no memory given for the network; the model has no heap */
};

/* A prepared network; null is invalid. */
typedef void* NeutronModelHandle;

/* The three blocks, 16-byte aligned. They must stay in place while the network is in use. */
typedef struct {
  const void* microcode;
  const void* weights;
  const void* kernels;
  uint32_t timeoutSeconds; /* per run */
#if THIMBLE_NEUTRON_SUBGRAPH_NAME
  const char* subgraphName; /* for messages; may be null */
#endif
} NeutronModelConfig;

/* Data of one run. `outputs` has three more entries after the network's outputs: scratch, profile
 * and debug memory. `scratch` repeats the first of them; the integer model reads `outputs`. */
typedef struct {
  const void** inputs;
  void** outputs;
  void* scratch;
  void* scratchWeights; /* destination of prefetched weights */
} NeutronDataConfig;

/* Callbacks of the application. The NPU does not read flash. `copy` starts a copy to SRAM and may
 * return before it is complete. `wait` returns when the last copy of its channel is complete. */
typedef struct {
  void (*copy)(void* to, void* from, uint32_t bytes, uint32_t channel);
  void (*wait)(uint32_t channel);
} NeutronConfig;

NeutronError neutronInit(void);
NeutronError neutronDeinit(void);

/* *handle points to memory of neutronGetModelContextSize() bytes, which must stay valid while the
 * network is in use. If it is null, the driver allocates the memory from a heap. */
NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* handle);
NeutronError neutronModelUnprepare(NeutronModelHandle handle);
size_t neutronGetModelContextSize(void);

/* Returns when the outputs are complete. */
NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* config);

/* Stops and starts the NPU's clock. After neutronInit the clock runs. */
NeutronError neutronSuspend(void);
NeutronError neutronResume(void);

/* `config` must stay valid as long as networks run. */
NeutronError neutronSetConfig(NeutronConfig* config);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_NPU_NEUTRON_DRIVER_H */
