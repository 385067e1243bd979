// STM32F4: enables port A, the USART's clock, and two pins of port A with alternate function 7.
// RM0090, sections 7.3 and 8.4. The core keeps the internal oscillator of 16 MHz.

#include "board.h"

namespace runner {
namespace {

volatile uint32_t& reg(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}
constexpr uintptr_t kClockAhb1 = 0x40023830, kPortA = 0x40020000;
constexpr uintptr_t kMode = 0x00, kSpeed = 0x08, kAlternateLow = 0x20;

}  // namespace

void board_start() {
  reg(kClockAhb1) = reg(kClockAhb1) | 1;  // GPIOA
  reg(BOARD_UART_CLOCK_REGISTER) = reg(BOARD_UART_CLOCK_REGISTER) | 1U << BOARD_UART_CLOCK_BIT;
  for (uint32_t pin = BOARD_UART_TX_PIN; pin <= BOARD_UART_TX_PIN + 1; ++pin) {  // RX is the next
    const uintptr_t alternate = kPortA + kAlternateLow + 4 * (pin / 8);
    reg(kPortA + kMode) = (reg(kPortA + kMode) & ~(3U << (2 * pin))) | 2U << (2 * pin);
    reg(kPortA + kSpeed) = reg(kPortA + kSpeed) | 2U << (2 * pin);
    reg(alternate) = (reg(alternate) & ~(15U << (4 * (pin % 8)))) | 7U << (4 * (pin % 8));
  }
}

}  // namespace runner
