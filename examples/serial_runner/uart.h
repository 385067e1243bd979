#pragma once
// The board's serial line. uart.cpp has the receive buffer, uart_KIND.cpp the driver of one kind of
// UART.

#include <cstdint>

namespace runner {

/// Enables the UART with 8 data bits, no parity, one stop bit, and its interrupt.
void line_start(uint32_t baud);
/// Waits for a byte. The core sleeps while there is none.
uint8_t line_read();

// The driver.

/// Enables the UART, its receiver's interrupt too.
void uart_start(uint32_t baud);
/// Waits until the transmitter has space.
void uart_write(uint8_t byte);
/// Reads a byte and ends its interrupt; false: there is none.
bool uart_receive(uint8_t& byte);
/// Waits until all bytes have left the transmitter.
void uart_drain();

}  // namespace runner
