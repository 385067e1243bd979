/* Which of four states a motor is in, and how long the NPU took for it. */
#include "app.h"
#include "inputs.h"
#include "multi_layer.h"

static const char* const names[] = {"healthy", "unbalance", "looseness", "bearing"};

static unsigned char memory[multi_layer_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

int main(void) {
  if (app_failed("init", thimble_init(&model, multi_layer_pte, multi_layer_pte_bytes,
                                      multi_layer_kernels(), memory, sizeof memory))) {
    return 1;
  }
  const app_samples samples = {inputs, sizeof inputs[0], labels, INPUT_COUNT};
  return app_classify(&model, &samples, names);
}
