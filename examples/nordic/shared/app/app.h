/* What the applications of this folder have in common: a model's life, how long a call took, and
 * printing numbers without floating point in printk. */
#ifndef NORDIC_APP_H
#define NORDIC_APP_H

#include <stdint.h>

#include "thimble.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints what failed and why; answers whether anything did. */
int app_failed(const char* what, thimble_status status);

/* Sets input 0, runs, gives output 0. Answers microseconds, or -1 after printing what failed. */
int app_call(thimble_model* model, const void* x, size_t bytes, thimble_view* y);

/* Samples with the class of each. */
typedef struct app_samples {
  const void* inputs;
  size_t bytes_each;
  const uint8_t* labels;
  int count;
} app_samples;

/* Classifies each: the largest output of type float or int8 says which of `names` it is. Prints
 * each answer, and how many were right. Answers whether a call failed. */
int app_classify(thimble_model* model, const app_samples* samples, const char* const* names);

/* "name = value" with three digits behind the point. */
void app_print(const char* name, float value);

#ifdef __cplusplus
}
#endif
#endif /* NORDIC_APP_H */
