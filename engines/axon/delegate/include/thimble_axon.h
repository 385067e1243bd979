#ifndef THIMBLE_AXON_H
#define THIMBLE_AXON_H
/* The AXON of a product, for files with calls of the delegate ThimbleAxonModel. The product says
 * who executes layer lists and, if it wants to know what they cost, has a row for each of them:
 *
 *   static thimble_axon_counter counters[4];
 *   const thimble_axon thimble_axon_npu = {.run = my_run, .counters = counters, .counter_count =
 * 4};
 *
 * and the table that `thimble compile --kernels` writes names it. engines/axon/model executes them on
 * any core; a driver for silicon takes its place. docs/nordic-axon.md describes layer lists. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the calls of one layer list have cost. A list is known by its name, which ends in a hash of
 * its content; the name stands in the file and lasts as long as that. */
typedef struct thimble_axon_counter {
  const char* name; /* null: a free row */
  uint64_t cycles;  /* of the NPU: what the driver measured, else the compiler's estimate */
  uint32_t calls;
} thimble_axon_counter;

/* One call. Tensors are dense, in the order of the list's inputs and outputs. */
typedef struct thimble_axon_job {
  const void* container; /* the layer list, checked up to its layers */
  uint32_t container_bytes;
  const char* name;
  uint64_t content_hash;
  const void* const* inputs;
  void* const* outputs;
  void* interlayer; /* scratch in the arena, aligned to 16 */
  void* persistent; /* behind it: for variables, during the call */
  uint32_t cycles;  /* the estimate; a driver that measures writes what it measured */
} thimble_axon_job;

typedef struct thimble_axon thimble_axon;
struct thimble_axon {
  /* Executes a call; 0, or a status of abi/status.def. */
  int32_t (*run)(const thimble_axon* npu, thimble_axon_job* job);
  /* Whether it will be able to, asked for each list when a file is loaded. Null: always. */
  int32_t (*load)(const thimble_axon* npu, const void* container, uint32_t bytes);
  void* user;
  thimble_axon_counter* counters; /* null: nothing is counted */
  uint32_t counter_count;         /* a file with more lists than rows does not load */
};

extern const thimble_axon thimble_axon_npu;

/* The integer model of engines/axon/model as a driver: on any core, with the results of the NPU and not
 * its speed. */
int32_t thimble_axon_model_run(const thimble_axon* npu, thimble_axon_job* job);
int32_t thimble_axon_model_load(const thimble_axon* npu, const void* container, uint32_t bytes);

/* Sums over all rows. */
thimble_axon_counter thimble_axon_total(const thimble_axon* npu);
/* The row of a list, or null. */
const thimble_axon_counter* thimble_axon_find(const thimble_axon* npu, const char* name);
/* Calls `row` for each list that a loaded file has, in the order of loading. */
void thimble_axon_dump(const thimble_axon* npu,
                       void (*row)(void* user, const thimble_axon_counter* counter), void* user);
/* Zeroes the row of one list, or of all if `name` is null; the rows stay taken. */
void thimble_axon_reset(const thimble_axon* npu, const char* name);
/* Frees all rows: before other files are loaded. */
void thimble_axon_forget(const thimble_axon* npu);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_AXON_H */
