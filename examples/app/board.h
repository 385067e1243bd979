/* Output on the board's UART. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

void uart_start(void);
void uart_text(const char* text);
void uart_number(int32_t value);
void uart_hex(const void* data, uint32_t bytes);

#endif
