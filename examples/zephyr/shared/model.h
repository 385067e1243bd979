// SPDX-License-Identifier: Apache-2.0
/* Runs a model once with an input of constant bytes, and prints a hash of the outputs. The inputs
 * and outputs are those of `thimble run` with the same bytes, so that the hash can be compared with
 * the host's. */
#ifndef MODEL_H
#define MODEL_H

#include <string.h>
#include <zephyr/sys/printk.h>

#include "thimble_zephyr.h"

/* FNV-1a of 32 bits. */
static inline uint32_t hash_of(const void* data, size_t bytes) {
  const uint8_t* at = data;
  uint32_t hash = 0x811C9DC5u;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x01000193u;
  return hash;
}

/* Sets all bytes of input 0, which has at most `bytes` bytes. Returns the status. */
static inline thimble_status set_bytes(thimble_model* model, uint8_t value, void* buffer,
                                       size_t bytes) {
  thimble_view x;
  thimble_status status = thimble_input(model, 0, &x);
  if (status != 0 || x.bytes > bytes) return status != 0 ? status : -1;
  memset(buffer, value, x.bytes);
  return thimble_set_input(model, 0, buffer, x.bytes);
}

static inline thimble_status run_and_print(const char* name, thimble_model* model) {
  thimble_view y;
  thimble_status status = thimble_run(model);
  if (status == 0) status = thimble_output(model, 0, &y);
  if (status != 0) {
    printk("%s: %s\n", name, thimble_status_text(status));
    return status;
  }
  printk("%s: output %u bytes, hash %08x\n", name, (unsigned)y.bytes, hash_of(y.data, y.bytes));
  return 0;
}

#endif
