/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes ten words in one second of sound, given as 40 x 13 coefficients. */
#include "app.h"
#include "inputs.h"
#include "keywords.h"

static const char* const names[] = {"silence", "unknown", "yes", "no",  "up",   "down",
                                    "left",    "right",   "on",  "off", "stop", "go"};

static unsigned char memory[keywords_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

int main(void) {
  if (app_failed("init", thimble_init(&model, keywords_pte, keywords_pte_bytes, keywords_kernels(),
                                      memory, sizeof memory))) {
    return 1;
  }
  const app_samples samples = {inputs, sizeof inputs[0], labels, INPUT_COUNT};
  return app_classify(&model, &samples, names);
}
