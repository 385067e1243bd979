/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <zephyr/sys/printk.h>
#include <zephyr/timing/timing.h>

#include "thimble_trace.h"
#include "thimble_zephyr.h"

static void hook(void* user, uint32_t instruction, const char* op, int after) {
  thimble_profile* profile = user;
  timing_t now = timing_counter_get();
  if (after) {
    timing_t start = (timing_t)profile->start;
    profile->rows[instruction].op = op;
    profile->rows[instruction].cycles += timing_cycles_get(&start, &now);
  } else {
    profile->start = now;
  }
}

int thimble_profile_start(thimble_profile* profile, thimble_model* model) {
  profile->used = thimble_instruction_count(model);
  if (profile->used > profile->count) return -ENOMEM;
  for (uint32_t i = 0; i < profile->used; ++i) profile->rows[i] = (thimble_profile_row){"", 0};
  timing_init();
  timing_start();
  return thimble_set_trace(model, hook, profile) == 0 ? 0 : -ENOTSUP;
}

void thimble_profile_print(thimble_profile* profile, thimble_model* model) {
  thimble_set_trace(model, NULL, NULL);
  timing_stop();
  uint64_t sum = 0;
  for (uint32_t i = 0; i < profile->used; ++i) {
    printk("op %u %s %llu cycles\n", i, profile->rows[i].op,
           (unsigned long long)profile->rows[i].cycles);
    sum += profile->rows[i].cycles;
  }
  printk("ops %u, %llu cycles\n", profile->used, (unsigned long long)sum);
}
