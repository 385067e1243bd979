// SPDX-License-Identifier: Apache-2.0
// STM32 with GPIO ports of mode registers: enables the clocks of the port and of the USART, and two
// pins of the port with an alternate function. Reference manuals RM0090 (F4), RM0385 (F7), RM0433
// (H7), RM0351 (L4), RM0444 (G0), RM0456 (U5), chapters RCC and GPIO.

#include "board.h"
#include "stm32_clock.h"

namespace runner {
namespace {

volatile uint32_t& reg(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}
constexpr uintptr_t kMode = 0x00, kSpeed = 0x08, kAlternateLow = 0x20;

}  // namespace

void board_start() {
  stm32_clock_start();
  reg(BOARD_PORT_CLOCK_REGISTER) = reg(BOARD_PORT_CLOCK_REGISTER) | 1U << BOARD_PORT_CLOCK_BIT;
  reg(BOARD_UART_CLOCK_REGISTER) = reg(BOARD_UART_CLOCK_REGISTER) | 1U << BOARD_UART_CLOCK_BIT;
  __asm__ volatile("dsb" ::: "memory");  // the clocks run after this
  for (uint32_t pin = BOARD_UART_TX_PIN; pin <= BOARD_UART_TX_PIN + 1; ++pin) {  // RX is the next
    const uintptr_t alternate = BOARD_PORT + kAlternateLow + 4 * (pin / 8);
    const uint32_t shift = 4 * (pin % 8);
    reg(alternate) = (reg(alternate) & ~(15U << shift)) | uint32_t{BOARD_UART_ALTERNATE} << shift;
    reg(BOARD_PORT + kSpeed) = reg(BOARD_PORT + kSpeed) | 2U << (2 * pin);
    reg(BOARD_PORT + kMode) = (reg(BOARD_PORT + kMode) & ~(3U << (2 * pin))) | 2U << (2 * pin);
  }
}

}  // namespace runner
