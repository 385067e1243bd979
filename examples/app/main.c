/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes one scanned digit. Prints the class, and the raw outputs for a comparison with those
 * of the host. */
#include "board.h"
#include "digit.h"
#include "digits.h"

static unsigned char memory[digits_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

static int failed(const char* what, thimble_status status) {
  uart_text(what);
  uart_text(": ");
  uart_text(thimble_status_text(status));
  uart_text("\n");
  return 1;
}

int main(void) {
  thimble_status status =
      thimble_init(&model, digits_pte, digits_pte_bytes, digits_kernels(), memory, sizeof memory);
  if (status != 0) return failed("init", status);
  status = thimble_set_input(&model, 0, digit, sizeof digit);
  if (status != 0) return failed("set_input", status);
  status = thimble_run(&model);
  if (status != 0) return failed("run", status);
  thimble_view y;
  status = thimble_output(&model, 0, &y);
  if (status != 0) return failed("output", status);

  const float* score = y.data;
  int best = 0;
  for (int i = 1; i < y.sizes[1]; ++i) {
    if (score[i] > score[best]) best = i;
  }
  uart_text("digit ");
  uart_number(best);
  uart_text("\noutput ");
  uart_hex(y.data, (uint32_t)y.bytes);
  uart_text("\n");
  return 0;
}
