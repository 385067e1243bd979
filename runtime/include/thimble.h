#ifndef THIMBLE_H
#define THIMBLE_H
/* Thimble runtime, plain C. No heap, no global state, no libc beyond memcpy, memset and memcmp.
 *
 *   static thimble_model model;
 *   thimble_needs needs;
 *   thimble_size(pte, pte_bytes, kernels, &needs);      needs.arena_bytes + needs.state_bytes
 *   thimble_init(&model, pte, pte_bytes, kernels, memory, sizeof memory);
 *   thimble_set_input(&model, 0, x, sizeof x);
 *   thimble_run(&model);
 *   thimble_view y; thimble_output(&model, 0, &y);
 *
 * `pte` stays in place (in flash), and constants are read there. The file and the arena must be
 * 16-byte aligned, and input buffers aligned to their element size. Functions return a status; 0 is
 * success. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t thimble_status; /* abi/status.def; 0 = ok */

/* A set of kernels: thimble_all_kernels(), or the table that the compiler generates for a model. */
typedef struct thimble_kernels thimble_kernels;

typedef struct thimble_needs {
  size_t arena_bytes; /* activations, scratch and planned inputs/outputs */
  size_t state_bytes; /* data of the runtime; the memory given to init holds both */
  size_t saved_bytes; /* bytes of the arena that the model keeps between runs: for thimble_save */
} thimble_needs;

/* A tensor of the model's interface. `dim_order` lists the dimensions in memory order, outermost
 * first. */
typedef struct thimble_view {
  void* data; /* null for an unplanned input that is not set */
  size_t bytes;
  const int32_t* sizes;
  const uint8_t* dim_order;
  uint8_t rank;
  uint8_t dtype; /* ExecuTorch scalar type: 1 = int8, 6 = float32 */
} thimble_view;

/* Opaque; may be stored anywhere. Valid after thimble_init has returned 0. */
typedef struct thimble_model {
  uintptr_t opaque[18];
} thimble_model;

/* Returns the sizes that thimble_init needs. Also checks the whole file. */
thimble_status thimble_size(const void* pte, size_t pte_bytes, const thimble_kernels* kernels,
                            thimble_needs* needs);

/* Verifies the file, resolves kernels once, and sets the model's states to their initial content.
 * `memory` must have arena_bytes + state_bytes. Init overwrites all of it, whatever its content,
 * and the model keeps pointers into it. */
thimble_status thimble_init(thimble_model* model, const void* pte, size_t pte_bytes,
                            const thimble_kernels* kernels, void* memory, size_t memory_bytes);

uint32_t thimble_input_count(const thimble_model* model);
uint32_t thimble_output_count(const thimble_model* model);
thimble_status thimble_input(const thimble_model* model, uint32_t index, thimble_view* view);
thimble_status thimble_output(const thimble_model* model, uint32_t index, thimble_view* view);

/* Sets an input. The run reads the data directly from this buffer. An input that is planned in the
 * arena is copied there now, unless `data` is its address there (`data` of thimble_input). A run
 * may overwrite a planned input, so it must be set, or written in place, before each run. */
thimble_status thimble_set_input(thimble_model* model, uint32_t index, const void* data,
                                 size_t bytes);

thimble_status thimble_run(thimble_model* model);

/* Clears the inputs and sets the states to their initial content. */
thimble_status thimble_reset(thimble_model* model);

/* Copy the states out of the model, or into it or another model of the same file. `bytes` must
 * equal needs.saved_bytes. */
thimble_status thimble_save(const thimble_model* model, void* to, size_t bytes);
thimble_status thimble_restore(thimble_model* model, const void* from, size_t bytes);

const char* thimble_status_text(thimble_status status);

/* All kernels of this build: for hosts, tests and the generic runner. */
const thimble_kernels* thimble_all_kernels(void);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_H */
