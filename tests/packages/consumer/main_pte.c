/* SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "digit.h"
#include "digits.h"

static unsigned char memory[digits_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

int main(void) {
  thimble_view y;
  const thimble_kernels* kernels = digits_kernels();
  if (thimble_init(&model, digits_pte, digits_pte_bytes, kernels, memory, sizeof memory) != 0) {
    return 1;
  }
  if (thimble_set_input(&model, 0, digit, sizeof digit) != 0) return 1;
  if (thimble_run(&model) != 0 || thimble_output(&model, 0, &y) != 0) return 1;
  uart_text("output ");
  uart_hex(y.data, (uint32_t)y.bytes);
  uart_text("\n");
  return 0;
}
