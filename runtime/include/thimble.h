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
 * `pte` stays where it is (flash); constants are read in place. The file and the arena are 16-byte
 * aligned, input buffers to their element. Every function returns a status; 0 is success. */

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
  size_t state_bytes; /* the runtime's bookkeeping; the memory given to init holds both */
  size_t saved_bytes; /* of the arena, what the model keeps from run to run: for thimble_save */
} thimble_needs;

/* A tensor of the model's interface. `dim_order` lists dimensions as they lie in memory, the
 * outermost first. */
typedef struct thimble_view {
  void* data; /* null for an input that was not set and is not planned */
  size_t bytes;
  const int32_t* sizes;
  const uint8_t* dim_order;
  uint8_t rank;
  uint8_t dtype; /* ExecuTorch scalar type: 1 = int8, 6 = float32 */
} thimble_view;

/* Opaque; place it anywhere. Its contents are valid after thimble_init returned 0. */
typedef struct thimble_model {
  uintptr_t opaque[18];
} thimble_model;

/* What init will need; also checks the whole file. */
thimble_status thimble_size(const void* pte, size_t pte_bytes, const thimble_kernels* kernels,
                            thimble_needs* needs);

/* Verifies the file, resolves kernels once, gives the model's state its first content. `memory`
 * holds arena_bytes + state_bytes; init uses all of it, whatever was there, and the model points
 * into it. */
thimble_status thimble_init(thimble_model* model, const void* pte, size_t pte_bytes,
                            const thimble_kernels* kernels, void* memory, size_t memory_bytes);

uint32_t thimble_input_count(const thimble_model* model);
uint32_t thimble_output_count(const thimble_model* model);
thimble_status thimble_input(const thimble_model* model, uint32_t index, thimble_view* view);
thimble_status thimble_output(const thimble_model* model, uint32_t index, thimble_view* view);

/* The data is read during run, straight from this buffer. An input that is planned in the arena
 * (thimble_input says where before it was set) is copied there now, unless `data` is that place; a
 * run may overwrite it, so it is set, or written there, before each. */
thimble_status thimble_set_input(thimble_model* model, uint32_t index, const void* data,
                                 size_t bytes);

thimble_status thimble_run(thimble_model* model);

/* Forgets inputs; state kept between runs gets its first content again. */
thimble_status thimble_reset(thimble_model* model);

/* Copies the state kept between runs out of the model and back into it, or into another one of the
 * same file: needs.saved_bytes, no more and no less. */
thimble_status thimble_save(const thimble_model* model, void* to, size_t bytes);
thimble_status thimble_restore(thimble_model* model, const void* from, size_t bytes);

const char* thimble_status_text(thimble_status status);

/* Every kernel that this build holds: for hosts, tests and the generic runner. */
const thimble_kernels* thimble_all_kernels(void);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_H */
