/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text: one character per call of the network, which keeps the keys and values of all
 * earlier ones. */
#include <math.h>

#include "board.h"
#include "step.h"

enum { LENGTH = 64, CHARACTERS = 96 };
static unsigned char memory[step_MEMORY_BYTES] __attribute__((aligned(16)));
static const char prompt[] = "The ";

/* TEMPERATURE is in percent. The largest of score / T - log(-log(u)) has the probabilities of
 * softmax(score / T). */
static int chosen(const float* score) {
  static uint32_t seed = 1;
  float largest = -INFINITY;
  int character = 0;
  for (int i = 0; i < CHARACTERS; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const float u = ((float)(seed >> 8) + 0.5f) / 16777216.0f; /* random, 0 < u < 1 */
    const float x = TEMPERATURE == 0 ? score[i] : score[i] * 100 / TEMPERATURE - logf(-logf(u));
    if (x > largest) largest = x, character = i;
  }
  return character;
}

int main(void) {
  thimble_model model;
  thimble_view logits;
  thimble_status status =
      thimble_init(&model, step_pte, step_pte_bytes, step_kernels(), memory, sizeof memory);
  int64_t token = 0;
  for (int64_t at = 0; status == 0 && at < LENGTH; ++at) {
    if (at < (int64_t)sizeof prompt - 1) token = prompt[at] - ' ';
    uart_text((char[]){(char)(token + ' '), 0});
    status = thimble_set_input(&model, 0, &token, sizeof token);
    if (status == 0) status = thimble_set_input(&model, 1, &at, sizeof at);
    if (status == 0) status = thimble_run(&model);
    if (status == 0) status = thimble_output(&model, 0, &logits);
    if (status == 0) token = chosen(logits.data);
  }
  uart_text(status == 0 ? "\n" : thimble_status_text(status));
  return status != 0;
}
