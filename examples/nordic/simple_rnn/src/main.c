/* SPDX-License-Identifier: Apache-2.0 */
/* A recurrent network, one step per call. Its state is in the arena and is kept between calls. */
#include <string.h>
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "app.h"
#include "inputs.h"
#include "simple_rnn.h"

static unsigned char memory[simple_rnn_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

/* Runs all samples. Returns the last output. */
static int steps(float* cosine, float* sine) {
  for (int i = 0; i < INPUT_COUNT; ++i) {
    thimble_view y;
    int us = app_call(&model, inputs[i], sizeof inputs[i], &y);
    if (us < 0) return 1;
    memcpy(cosine, y.data, sizeof *cosine);
    memcpy(sine, (const float*)y.data + 1, sizeof *sine);
    printk("step %d", i);
    app_print("  cos", *cosine);
    app_print("  sin", *sine);
    printk("  %d us\n", us);
  }
  return 0;
}

int main(void) {
  if (app_failed("init", thimble_init(&model, simple_rnn_pte, simple_rnn_pte_bytes,
                                      simple_rnn_kernels(), memory, sizeof memory))) {
    return 1;
  }
  float first[2], again[2];
  if (steps(&first[0], &first[1])) return 1;
  /* With the initial state, the same samples must give the same outputs. */
  if (app_failed("reset", thimble_reset(&model))) return 1;
  if (steps(&again[0], &again[1])) return 1;
  printk("after reset: %s\n", memcmp(first, again, sizeof first) == 0 ? "the same" : "different");
  printk("simple_rnn: done\n");
  return 0;
}
