/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes a digit with a file for the Nordic AXON. With CONFIG_THIMBLE_NORDIC_AXON, the module
 * connects the NPU; else the core executes the layer list, with the same results. */
#include "digits_cnn.h"
#include "model.h"

#ifndef CONFIG_THIMBLE_NORDIC_AXON
#include "thimble_axon.h"
static thimble_axon_counter counters[4];
const thimble_axon thimble_axon_npu = {.run = thimble_axon_model_run,
                                       .load = thimble_axon_model_load,
                                       .counters = counters,
                                       .counter_count = ARRAY_SIZE(counters)};
#endif

THIMBLE_ARENA_DEFINE(memory, digits_cnn_MEMORY_BYTES);
static thimble_model model;
static uint8_t input[256] __aligned(4);

int main(void) {
  if (thimble_zephyr_init(&model, digits_cnn_pte, digits_cnn_pte_bytes, digits_cnn_kernels(),
                          memory, sizeof memory) != 0 ||
      set_bytes(&model, 1, input, sizeof input) != 0 || run_and_print("digits_cnn", &model) != 0) {
    return 1;
  }
  printk("END ok\n");
  return 0;
}
