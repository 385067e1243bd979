// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_EXECUTORCH_H
#define THIMBLE_EXECUTORCH_H
/* Registers Thimble's kernels with ExecuTorch's runtime, for files that call `cortex_m::` and
 * `thimble::` operators:
 *
 *   thimble_executorch_register(thimble_model_kernels(), NULL);
 *
 * before the first method is loaded, where thimble_model_kernels() is the table that
 * `thimble compile --kernels` writes. The shared library for hosts registers all kernels of these
 * two namespaces when it is loaded. */

#include "thimble.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the kernels of the table whose operators are in one of the namespaces: names separated
 * by commas, or null for "cortex_m,thimble". An operator that the runtime already has is skipped.
 * The table must exist as long as the runtime. Returns the number of registered operators, or -1 if
 * the library has no space for them; then none is registered. */
int thimble_executorch_register(const thimble_kernels* kernels, const char* namespaces);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_EXECUTORCH_H */
