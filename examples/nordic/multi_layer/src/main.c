/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies the state of a motor (one of four), and prints the time that the NPU needed. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "app.h"
#include "inputs.h"
#include "multi_layer.h"
#include "thimble_axon.h"

static const char* const names[] = {"healthy", "unbalance", "looseness", "bearing"};

static unsigned char memory[multi_layer_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

/* Prints one delegate of the model. Its name ends with a hash of its content; its cycles are the
 * sum of all calls. */
static void print_row(void* user, const thimble_axon_counter* counter) {
  (void)user;
  uint32_t calls = counter->calls != 0 ? counter->calls : 1;
  printk("%s: %u calls, %u cycles each\n", counter->name, (unsigned)counter->calls,
         (unsigned)(counter->cycles / calls));
}

int main(void) {
  if (app_failed("init", thimble_init(&model, multi_layer_pte, multi_layer_pte_bytes,
                                      multi_layer_kernels(), memory, sizeof memory))) {
    return 1;
  }
  const app_samples samples = {inputs, sizeof inputs[0], labels, INPUT_COUNT};
  if (app_classify(&model, &samples, names)) return 1;
  thimble_axon_dump(&thimble_axon_npu, print_row, NULL);
  thimble_axon_reset(&thimble_axon_npu, NULL);
  printk("after reset: %u calls\n", (unsigned)thimble_axon_total(&thimble_axon_npu).calls);
  return 0;
}
