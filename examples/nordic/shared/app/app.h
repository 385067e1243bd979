// SPDX-License-Identifier: Apache-2.0
/* Common code of the applications in this folder: calls of a model with their duration, and
 * printing of numbers without floating point in printk. */
#ifndef NORDIC_APP_H
#define NORDIC_APP_H

#include <stdint.h>

#include "thimble.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0 for success. Otherwise prints what failed and why, and returns 1. */
int app_failed(const char* what, thimble_status status);

/* Sets input 0, runs, and reads output 0. Returns microseconds, or -1 after printing an error. */
int app_call(thimble_model* model, const void* x, size_t bytes, thimble_view* y);

/* Samples and their classes. */
typedef struct app_samples {
  const void* inputs;
  size_t bytes_each;
  const uint8_t* labels;
  int count;
} app_samples;

/* Classifies each sample: the largest float or int8 output is the index in `names`. Prints each
 * result, and the number of correct ones. Returns 1 if a call failed, else 0. */
int app_classify(thimble_model* model, const app_samples* samples, const char* const* names);

/* Prints "name = value" with three decimal places. */
void app_print(const char* name, float value);

#ifdef __cplusplus
}
#endif
#endif /* NORDIC_APP_H */
