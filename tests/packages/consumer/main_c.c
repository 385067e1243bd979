/* SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "digit.h"
#include "digits.h"

int main(void) {
  digits_init();
  digits_run(digit);
  uart_text("output ");
  uart_hex(digits_output_0(), DIGITS_OUTPUT_0_BYTES);
  uart_text("\n");
  return 0;
}
