/* SPDX-License-Identifier: Apache-2.0 */
/* board.h of examples/app on the build machine. */
#include "board.h"

#include <stdio.h>

void uart_start(void) {}
void uart_text(const char* text) {
  fputs(text, stdout);
}
void uart_number(int32_t value) {
  printf("%d", (int)value);
}
void uart_hex(const void* data, uint32_t bytes) {
  const uint8_t* at = data;
  for (uint32_t i = 0; i < bytes; ++i) printf("%02x", at[i]);
}
