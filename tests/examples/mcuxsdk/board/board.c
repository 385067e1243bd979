/* SPDX-License-Identifier: Apache-2.0 */
/* The SDK's board functions, for the emulated board of examples/app. */
#include "board.h"

#include <stdarg.h>
#include <stdio.h>

#include "board_init.h"
#include "fsl_debug_console.h"

void BOARD_Init(void) {}

int PRINTF(const char* format, ...) {
  char text[160];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  uart_text(text);
  return length;
}
