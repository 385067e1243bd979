// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_AXON_H
#define THIMBLE_AXON_H
/* The AXON NPU of a product, for files that call the delegate ThimbleAxonModel. The product defines
 * the driver that executes layer lists. To measure their cost, it also provides a row for each:
 *
 *   static thimble_axon_counter counters[4];
 *   const thimble_axon thimble_axon_npu = {
 *       .run = my_run, .counters = counters, .counter_count = 4};
 *
 * and the table that `thimble compile --kernels` writes names it. engines/axon/model executes them
 * on any core; a driver for silicon replaces it. docs/nordic-axon.md describes layer lists. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cost of the calls of one layer list. A list is identified by its name, which ends in a hash of
 * its content. The name is stored in the file and is valid as long as the file is loaded. */
typedef struct thimble_axon_counter {
  const char* name; /* null: a free row */
  uint64_t cycles;  /* NPU cycles: measured by the driver, else the compiler's estimate */
  uint32_t calls;
} thimble_axon_counter;

/* One call. Tensors are dense, in the order of the layer list's inputs and outputs. */
typedef struct thimble_axon_job {
  const void* container; /* the layer list; checked except for its layers */
  uint32_t container_bytes;
  const char* name;
  uint64_t content_hash;
  const void* const* inputs;
  void* const* outputs;
  void* interlayer; /* scratch in the arena, 16-byte aligned */
  void* persistent; /* variables, after `interlayer`; valid during the call only */
  uint32_t cycles;  /* the compiler's estimate; a driver that measures overwrites it */
} thimble_axon_job;

typedef struct thimble_axon thimble_axon;
struct thimble_axon {
  /* Executes a call; returns 0, or a status of abi/status.def. */
  int32_t (*run)(const thimble_axon* npu, thimble_axon_job* job);
  /* Called for each layer list when a file is loaded. Returns 0 if `run` supports it, else a
   * status. Null: all are supported. */
  int32_t (*load)(const thimble_axon* npu, const void* container, uint32_t bytes);
  void* user;
  thimble_axon_counter* counters; /* null: nothing is counted */
  uint32_t counter_count;         /* a file with more lists than rows does not load */
};

extern const thimble_axon thimble_axon_npu;

/* The integer model of engines/axon/model as a driver: on any core, with the results of the NPU and
 * not its speed. */
int32_t thimble_axon_model_run(const thimble_axon* npu, thimble_axon_job* job);
int32_t thimble_axon_model_load(const thimble_axon* npu, const void* container, uint32_t bytes);

/* Returns the sums over all rows. */
thimble_axon_counter thimble_axon_total(const thimble_axon* npu);
/* Returns the row of a layer list, or null. */
const thimble_axon_counter* thimble_axon_find(const thimble_axon* npu, const char* name);
/* Calls `row` for each layer list of the loaded files, in the order of loading. */
void thimble_axon_dump(const thimble_axon* npu,
                       void (*row)(void* user, const thimble_axon_counter* counter), void* user);
/* Sets the counters of one row to zero, or of all rows if `name` is null. The rows stay in use. */
void thimble_axon_reset(const thimble_axon* npu, const char* name);
/* Frees all rows; must be called before other files are loaded. */
void thimble_axon_forget(const thimble_axon* npu);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_AXON_H */
