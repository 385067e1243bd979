/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text as main.c does, but reads the prompt with the method `prefill`: BLOCK characters in
 * one call. It writes their keys and values to the cache that `forward` continues with. */
#include "board.h"
#include "step.h"

enum { LENGTH = 64, CHARACTERS = 96, BLOCK = 16 };
static unsigned char arena[step_ARENA_BYTES] __attribute__((aligned(16)));
static unsigned char state[step_STATE_BYTES] __attribute__((aligned(16)));
static const char prompt[] = "The compiler ";
_Static_assert(sizeof prompt - 1 <= BLOCK, "the prompt is one block");

static int most_probable(const float* score) {
  int character = 0;
  for (int i = 1; i < CHARACTERS; ++i) {
    if (score[i] > score[character]) character = i;
  }
  return character;
}

/* Each method has its own part of `state`. */
static thimble_status init(thimble_model* prefill, thimble_model* forward) {
  thimble_needs needs = {0, 0, 0};
  thimble_status status =
      thimble_size_method(step_pte, step_pte_bytes, step_kernels(), "prefill", &needs);
  if (status == 0) {
    status = thimble_init_method(prefill, step_pte, step_pte_bytes, step_kernels(), "prefill",
                                 arena, sizeof arena, state, needs.state_bytes);
  }
  if (status != 0) return status;
  return thimble_init_method(forward, step_pte, step_pte_bytes, step_kernels(), "forward", arena,
                             sizeof arena, state + needs.state_bytes,
                             sizeof state - needs.state_bytes);
}

int main(void) {
  thimble_model prefill, forward;
  thimble_view logits = {0};
  /* Characters after the prompt are spaces. Their keys and values are never read: the mask hides
   * later positions, and `forward` overwrites a position before it reads it. */
  int64_t block[BLOCK] = {0};
  const int64_t read = sizeof prompt - 1;
  for (int64_t i = 0; i < read; ++i) block[i] = prompt[i] - ' ';
  thimble_status status = init(&prefill, &forward);
  if (status == 0) status = thimble_set_input(&prefill, 0, block, sizeof block);
  if (status == 0) status = thimble_run(&prefill);
  if (status == 0) status = thimble_output(&prefill, 0, &logits);
  int64_t token = 0;
  if (status == 0) token = most_probable((const float*)logits.data + (read - 1) * CHARACTERS);
  uart_text(prompt);
  for (int64_t at = read; status == 0 && at < LENGTH; ++at) {
    uart_text((char[]){(char)(token + ' '), 0});
    status = thimble_set_input(&forward, 0, &token, sizeof token);
    if (status == 0) status = thimble_set_input(&forward, 1, &at, sizeof at);
    if (status == 0) status = thimble_run(&forward);
    if (status == 0) status = thimble_output(&forward, 0, &logits);
    if (status == 0) token = most_probable(logits.data);
  }
  uart_text(status == 0 ? "\n" : thimble_status_text(status));
  return status != 0;
}
