/* SPDX-License-Identifier: Apache-2.0 */
/* Spots a keyword with the DS-CNN of MLPerf Tiny, in a spectrogram of constant values. */
#include "dscnn_kws.h"
#include "model.h"

THIMBLE_ARENA_DEFINE(memory, dscnn_kws_MEMORY_BYTES);
static thimble_model model;
static uint8_t input[490] __aligned(4);

int main(void) {
  if (thimble_zephyr_init(&model, dscnn_kws_pte, dscnn_kws_pte_bytes, dscnn_kws_kernels(), memory,
                          sizeof memory) != 0) {
    return 1;
  }
  if (set_bytes(&model, 1, input, sizeof input) != 0 || run_and_print("dscnn_kws", &model) != 0)
    return 1;
  printk("END ok\n");
  return 0;
}
