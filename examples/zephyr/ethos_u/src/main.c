/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes a digit on the Ethos-U. The driver is that of Zephyr if it is enabled
 * (CONFIG_ETHOS_U), else Thimble's own, or the simulator. The boards of Corstone-300 have their
 * code in a tightly coupled memory, which the NPU cannot read: the file is copied to the memory of
 * the arena. */
#include "digits_cnn.h"
#include "model.h"

THIMBLE_ARENA_DEFINE(memory, digits_cnn_MEMORY_BYTES);
THIMBLE_ARENA_DEFINE(file, digits_cnn_PTE_BYTES);
static thimble_model model;
static uint8_t input[256] __aligned(4);

int main(void) {
  memcpy(file, digits_cnn_pte, sizeof file);
  if (thimble_zephyr_init(&model, file, sizeof file, digits_cnn_kernels(), memory, sizeof memory) !=
          0 ||
      set_bytes(&model, 1, input, sizeof input) != 0 || run_and_print("digits_cnn", &model) != 0) {
    return 1;
  }
  printk("END ok\n");
  return 0;
}
