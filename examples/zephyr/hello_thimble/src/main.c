/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the sine of eight angles with a network. */
#include <zephyr/sys/printk.h>

#include "hello_sin.h"
#include "thimble_zephyr.h"

THIMBLE_ARENA_DEFINE(memory, hello_sin_MEMORY_BYTES);
static thimble_model model;

int main(void) {
  if (thimble_zephyr_init(&model, hello_sin_pte, hello_sin_pte_bytes, hello_sin_kernels(), memory,
                          sizeof memory) != 0) {
    return 1;
  }
  for (int i = 0; i < 8; ++i) {
    float x = (float)i * 0.75f;
    thimble_view y;
    if (thimble_set_input(&model, 0, &x, sizeof x) != 0 || thimble_run(&model) != 0 ||
        thimble_output(&model, 0, &y) != 0) {
      printk("run failed\n");
      return 1;
    }
    /* In thousandths, because printk has no floats. */
    printk("sin(%d) = %d\n", i * 750, (int)(*(const float*)y.data * 1000.0f));
  }
  printk("END ok\n");
  return 0;
}
