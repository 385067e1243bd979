/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal application: sin x for four angles. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "app.h"
#include "hello_axon.h"

/* Activations and the runtime's data. The compiler has computed the size. */
static unsigned char memory[hello_axon_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

int main(void) {
  /* Called once: verifies the file in place, and finds its kernels and its delegate. */
  thimble_status status = thimble_init(&model, hello_axon_pte, hello_axon_pte_bytes,
                                       hello_axon_kernels(), memory, sizeof memory);
  if (app_failed("init", status)) return 1;

  static const float angles[] = {1.57f, 0.0f, 3.1416f, 4.7124f};
  for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i) {
    thimble_view y;
    int us = app_call(&model, &angles[i], sizeof angles[i], &y);
    if (us < 0) return 1;
    app_print("x", angles[i]);
    app_print("  sin x", *(const float*)y.data);
    printk("  %d us\n", us);
  }
  printk("hello_axon: done\n");
  return 0;
}
