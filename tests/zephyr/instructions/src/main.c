/* SPDX-License-Identifier: Apache-2.0 */
/* One inference between two marks of firmware/common/marks.h, with interrupts disabled. */
#include <zephyr/kernel.h>

#include "dscnn_kws.h"
#include "model.h"

THIMBLE_ARENA_DEFINE(memory, dscnn_kws_MEMORY_BYTES);
static thimble_model model;
static uint8_t input[490];

int main(void) {
  thimble_view y;
  if (thimble_zephyr_init(&model, dscnn_kws_pte, dscnn_kws_pte_bytes, dscnn_kws_kernels(), memory,
                          sizeof memory) != 0 ||
      set_bytes(&model, 1, input, sizeof input) != 0) {
    return 1;
  }
  unsigned int key = irq_lock();
  __asm__ volatile(".inst.n 0x4600 + 9 * 3" ::: "memory"); /* mov r3, r3: a run begins */
  thimble_status status = thimble_run(&model);
  __asm__ volatile(".inst.n 0x4600 + 9 * 6" ::: "memory"); /* mov r6, r6: it ends */
  irq_unlock(key);
  if (status != 0 || thimble_output(&model, 0, &y) != 0) return 1;
  printk("dscnn_kws: output %u bytes, hash %08x\nEND ok\n", (unsigned)y.bytes,
         hash_of(y.data, y.bytes));
  return 0;
}
