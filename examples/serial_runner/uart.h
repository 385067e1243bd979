// SPDX-License-Identifier: Apache-2.0
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

/// Divider of a USART of the STM32 with oversampling by 16, in 1/16: the clock over the baud rate.
constexpr uint32_t stm32_divider(uint32_t clock_hz, uint32_t baud) {
  return (clock_hz + baud / 2) / baud;
}
/// Returns true if the USART can divide its clock to the baud rate with an error of at most 2.5 %.
/// A receiver that samples the middle of a bit tolerates less than 5 % in ten bits, of which the
/// clocks of both sides need a part.
constexpr bool stm32_reaches(uint32_t clock_hz, uint32_t baud) {
  const uint32_t divider = stm32_divider(clock_hz, baud);
  if (divider < 16) return false;
  const uint32_t rate = clock_hz / divider;
  return 40 * (rate > baud ? rate - baud : baud - rate) <= baud;
}

}  // namespace runner
