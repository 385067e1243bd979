#ifndef THIMBLE_TRACE_H
#define THIMBLE_TRACE_H
/* Inspection of a model: its instructions, and a hook around each of them. For hosts, profilers and
 * inspection tools. A product is built with THIMBLE_TRACE=0: then thimble_set_trace returns
 * kUnsupported, and thimble_run has no code for the hook. */

#include "thimble.h"

#ifndef THIMBLE_TRACE
#define THIMBLE_TRACE 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Called before (`after` = 0) and after (1) each instruction. `op` is the operator's registry name,
 * "cortex_m::quantized_add.out". */
typedef void (*thimble_trace_hook)(void* user, uint32_t instruction, const char* op, int after);

/* A null hook switches tracing off. */
thimble_status thimble_set_trace(thimble_model* model, thimble_trace_hook hook, void* user);

uint32_t thimble_instruction_count(const thimble_model* model);
/* Returns null if the instruction does not exist. */
const char* thimble_instruction_op(const thimble_model* model, uint32_t instruction);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_TRACE_H */
