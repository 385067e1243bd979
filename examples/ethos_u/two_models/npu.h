// SPDX-License-Identifier: Apache-2.0
/* The NPU of the application: npu.c, npu_arm.c or npu_simulated.cpp. */
#ifndef NPU_H
#define NPU_H
#include <stddef.h>

/* Called once before thimble_init, with all memory that the NPU reads and writes. Returns 0 if the
 * NPU can be used. */
typedef struct npu_memory {
  const void* data;
  size_t bytes;
  int read_only;
} npu_memory;
int npu_start(const npu_memory* memories, int count);

#endif
