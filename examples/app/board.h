// SPDX-License-Identifier: Apache-2.0
/* Output on the board's UART. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void uart_start(void);
void uart_text(const char* text);
void uart_number(int32_t value);
void uart_hex(const void* data, uint32_t bytes);
/* Prints the last line and ends the emulator; waits for ever if there is none. 0 is success. */
void board_end(int failed);

#ifdef __cplusplus
}
#endif

#endif
