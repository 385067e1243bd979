// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_TRACE_H
#define THIMBLE_TRACE_H
/* Lists the instructions of a program, and sets a hook around each of them. An instruction is a
 * call of a kernel or delegate (ExecuTorch's Instruction), not a CPU instruction. For hosts,
 * profilers and inspection tools. Products should be built with -DTHIMBLE_TRACE=0 for all files of
 * the runtime: then thimble_set_trace returns kUnsupported (6), and thimble_run has no code for the
 * hook. */

#include "thimble.h"

#ifndef THIMBLE_TRACE
#define THIMBLE_TRACE 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Called before (`after` = 0) and after (1) each instruction. `op` is the kernel's registry name,
 * such as "cortex_m::quantized_add.out", or the id of the delegate. A delegate that works while
 * other instructions run is reported twice: its start, and later its wait. */
typedef void (*thimble_trace_hook)(void* user, uint32_t instruction, const char* op, int after);

/* A null hook switches tracing off. */
thimble_status thimble_set_trace(thimble_model* model, thimble_trace_hook hook, void* user);

/* Number of kernel and delegate calls of the program. */
uint32_t thimble_instruction_count(const thimble_model* model);
/* Returns null if the instruction does not exist. */
const char* thimble_instruction_op(const thimble_model* model, uint32_t instruction);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_TRACE_H */
