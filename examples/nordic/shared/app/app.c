/* SPDX-License-Identifier: Apache-2.0 */
#include "app.h"

#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#include <zephyr/timing/timing.h>

enum { kInt8 = 1 }; /* ExecuTorch scalar type */

int app_failed(const char* what, thimble_status status) {
  if (status == 0) return 0;
  printk("%s: %s\n", what, thimble_status_text(status));
  return 1;
}

int app_call(thimble_model* model, const void* x, size_t bytes, thimble_view* y) {
  if (app_failed("set_input", thimble_set_input(model, 0, x, bytes))) return -1;
  timing_init();
  timing_start();
  timing_t before = timing_counter_get();
  thimble_status status = thimble_run(model);
  timing_t after = timing_counter_get();
  timing_stop();
  if (app_failed("run", status)) return -1;
  if (app_failed("output", thimble_output(model, 0, y))) return -1;
  return (int)(timing_cycles_to_ns(timing_cycles_get(&before, &after)) / 1000);
}

static float element(const thimble_view* y, size_t index) {
  return y->dtype == kInt8 ? (float)((const int8_t*)y->data)[index]
                           : ((const float*)y->data)[index];
}

static size_t largest(const thimble_view* y) {
  size_t count = y->dtype == kInt8 ? y->bytes : y->bytes / sizeof(float);
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) {
    if (element(y, i) > element(y, best)) best = i;
  }
  return best;
}

int app_classify(thimble_model* model, const app_samples* samples, const char* const* names) {
  int right = 0;
  for (int i = 0; i < samples->count; ++i) {
    thimble_view y;
    const uint8_t* x = (const uint8_t*)samples->inputs + (size_t)i * samples->bytes_each;
    int us = app_call(model, x, samples->bytes_each, &y);
    if (us < 0) return 1;
    size_t answer = largest(&y);
    right += answer == samples->labels[i];
    printk("%d: %s, label %s  %d us\n", i, names[answer], names[samples->labels[i]], us);
  }
  printk("%d of %d correct\n", right, samples->count);
  return 0;
}

void app_print(const char* name, float value) {
  int thousandths = (int)(value * 1000 + (value < 0 ? -0.5f : 0.5f));
  unsigned size = (unsigned)(thousandths < 0 ? -thousandths : thousandths);
  printk("%s = %s%u.%03u", name, thousandths < 0 ? "-" : "", size / 1000, size % 1000);
}
