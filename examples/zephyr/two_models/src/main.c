/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads, each with a network of its own, share one Ethos-U: the driver runs one command
 * stream at a time. The result of a network does not depend on the other. */
#include <zephyr/kernel.h>

#include "digits_cnn.h"
#include "dscnn_kws.h"
#include "model.h"

#define RUNS 3
#define STACK_BYTES (24 * 1024) /* the simulator's; a real NPU needs 2 KiB */

/* The NPU cannot read the memory of the code: the files are copied to that of the arena. */
THIMBLE_ARENA_DEFINE(digits_file, digits_cnn_PTE_BYTES);
THIMBLE_ARENA_DEFINE(kws_file, dscnn_kws_PTE_BYTES);
THIMBLE_ARENA_DEFINE(digits_memory, digits_cnn_MEMORY_BYTES);
THIMBLE_ARENA_DEFINE(kws_memory, dscnn_kws_MEMORY_BYTES);
static thimble_model digits, kws;
static uint8_t digits_input[64] __aligned(4), kws_input[490] __aligned(4);
static K_THREAD_STACK_DEFINE(digits_stack, STACK_BYTES);
static K_THREAD_STACK_DEFINE(kws_stack, STACK_BYTES);
static struct k_thread digits_thread, kws_thread;
static K_MUTEX_DEFINE(npu);
static K_SEM_DEFINE(ended, 0, 2);
static atomic_t failures;

/* The interface without an operating system does not wait for a reserved NPU, so the threads do. */
static void run_often(void* name, void* model, void* unused) {
  ARG_UNUSED(unused);
  for (int i = 0; i < RUNS; ++i) {
    k_mutex_lock(&npu, K_FOREVER);
    if (run_and_print(name, model) != 0) atomic_inc(&failures);
    k_mutex_unlock(&npu);
    k_yield();
  }
  k_sem_give(&ended);
}

int main(void) {
  memcpy(digits_file, digits_cnn_pte, sizeof digits_file);
  memcpy(kws_file, dscnn_kws_pte, sizeof kws_file);
  if (thimble_zephyr_init(&digits, digits_file, sizeof digits_file, digits_cnn_kernels(),
                          digits_memory, sizeof digits_memory) != 0 ||
      thimble_zephyr_init(&kws, kws_file, sizeof kws_file, dscnn_kws_kernels(), kws_memory,
                          sizeof kws_memory) != 0 ||
      set_bytes(&digits, 1, digits_input, sizeof digits_input) != 0 ||
      set_bytes(&kws, 1, kws_input, sizeof kws_input) != 0) {
    return 1;
  }
  k_thread_create(&digits_thread, digits_stack, K_THREAD_STACK_SIZEOF(digits_stack), run_often,
                  "digits_cnn", &digits, NULL, 7, 0, K_NO_WAIT);
  k_thread_create(&kws_thread, kws_stack, K_THREAD_STACK_SIZEOF(kws_stack), run_often, "dscnn_kws",
                  &kws, NULL, 7, 0, K_NO_WAIT);
  k_sem_take(&ended, K_FOREVER);
  k_sem_take(&ended, K_FOREVER);
  if (atomic_get(&failures) == 0) printk("END ok\n");
  return 0;
}
