// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_ETHOS_U_LINUX_H
#define THIMBLE_ETHOS_U_LINUX_H
/* An Ethos-U65 or U85 that the Linux kernel drives (drivers/accel/ethosu), for libthimble:
 *
 *   char error[256];
 *   thimble_ethos_u_linux* npu = thimble_ethos_u_linux_open(NULL, error, sizeof error);
 *   if (npu == NULL) puts(error);
 *   const thimble_kernels* kernels = thimble_ethos_u_linux_kernels(npu);
 *   thimble_init(&model, pte, pte_bytes, kernels, memory, memory_bytes);
 *
 * An object is used by one thread at a time; several models may use it. Each open has its own
 * buffers, and the kernel runs the jobs of all of them in order. */

#include <stddef.h>
#include <stdint.h>

#include "thimble.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct thimble_ethos_u_linux thimble_ethos_u_linux;

/* `device`: "/dev/accel/accel0"; NULL: the first device of /dev/accel that is an Ethos-U. Returns
 * NULL and writes a sentence to `error` if there is none. */
thimble_ethos_u_linux* thimble_ethos_u_linux_open(const char* device, char* error,
                                                  size_t error_bytes);
/* Closes the NPU. The models that use it are no longer valid. */
void thimble_ethos_u_linux_close(thimble_ethos_u_linux* npu);
/* All kernels, and the delegate of this NPU. Valid until the close. */
const thimble_kernels* thimble_ethos_u_linux_kernels(const thimble_ethos_u_linux* npu);
/* "/dev/accel/accel0 (ethos-u65-256)". */
const char* thimble_ethos_u_linux_name(const thimble_ethos_u_linux* npu);
/* The reason after thimble_init or thimble_run has failed, as a sentence; "": the status says all.
 */
const char* thimble_ethos_u_linux_error(const thimble_ethos_u_linux* npu);
/* Milliseconds after which a run returns kNpuTimeout; 10,000 by default. */
void thimble_ethos_u_linux_set_timeout(thimble_ethos_u_linux* npu, int64_t milliseconds);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_ETHOS_U_LINUX_H */
