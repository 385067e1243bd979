/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors a motor: raises an alarm if the autoencoder cannot reconstruct its input. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "anomaly.h"
#include "app.h"
#include "inputs.h"
#include "limit.h"

static unsigned char memory[anomaly_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

static float mean_square(const float* x, const float* y, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum / (float)count;
}

int main(void) {
  if (app_failed("init", thimble_init(&model, anomaly_pte, anomaly_pte_bytes, anomaly_kernels(),
                                      memory, sizeof memory))) {
    return 1;
  }
  int right = 0;
  for (int i = 0; i < INPUT_COUNT; ++i) {
    thimble_view y;
    int us = app_call(&model, inputs[i], sizeof inputs[i], &y);
    if (us < 0) return 1;
    float score = mean_square(inputs[i], y.data, INPUT_SIZE);
    int alarm = score > ANOMALY_LIMIT;
    right += alarm == labels[i];
    printk("window %d", i);
    app_print("  score x 1000", score * 1000);
    printk("  %s, label %s  %d us\n", alarm ? "alarm" : "well", labels[i] ? "fault" : "well", us);
  }
  printk("anomaly: %d of %d correct\n", right, INPUT_COUNT);
  return 0;
}
