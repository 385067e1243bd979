/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies scanned digits of 8x8 pixels: 0, 1, 2 or 3. */
#include "app.h"
#include "image_cnn.h"
#include "inputs.h"

static const char* const names[] = {"0", "1", "2", "3"};

static unsigned char memory[image_cnn_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

int main(void) {
  if (app_failed("init", thimble_init(&model, image_cnn_pte, image_cnn_pte_bytes,
                                      image_cnn_kernels(), memory, sizeof memory))) {
    return 1;
  }
  const app_samples samples = {inputs, sizeof inputs[0], labels, INPUT_COUNT};
  return app_classify(&model, &samples, names);
}
