// SPDX-License-Identifier: Apache-2.0
// USART of STM32F0, F3, F7, G0, G4, H5, H7, L4, L5, U5 and WBA: registers ISR, ICR, RDR and TDR.
// Reference manuals RM0351 (L4), RM0385 and RM0410 (F7), RM0433 (H7), RM0444 (G0), RM0456 (U5),
// each in "USART registers": the same offsets and bits while the FIFO is off. BOARD_UART is its
// address, BOARD_CLOCK_HZ its clock. board_start() enables clocks and pins.

#include "uart.h"

namespace runner {
namespace {

volatile uint32_t& reg(uint32_t offset) {
  return *reinterpret_cast<volatile uint32_t*>(BOARD_UART + offset);
}
constexpr uint32_t kControl1 = 0x00, kBaudRate = 0x0C, kStatus = 0x1C, kClear = 0x20,
                   kReceiveData = 0x24, kTransmitData = 0x28;
constexpr uint32_t kOverrun = 1U << 3, kReceived = 1U << 5, kSent = 1U << 6,
                   kTransmitEmpty = 1U << 7;
constexpr uint32_t kEnable = 1U << 0, kReceiverEnable = 1U << 2, kTransmitterEnable = 1U << 3,
                   kReceiveInterrupt = 1U << 5;

static_assert(stm32_reaches(BOARD_CLOCK_HZ, BAUD), "BAUD does not fit the clock of the UART");

}  // namespace

void uart_start(uint32_t baud) {
  reg(kBaudRate) = stm32_divider(BOARD_CLOCK_HZ, baud);  // written while the USART is disabled
  reg(kControl1) = kEnable | kTransmitterEnable | kReceiverEnable | kReceiveInterrupt;
}

void uart_write(uint8_t byte) {
  while ((reg(kStatus) & kTransmitEmpty) == 0) {
  }
  reg(kTransmitData) = byte;
}

bool uart_receive(uint8_t& byte) {
  const uint32_t status = reg(kStatus);
  // An overrun requests the interrupt until it is cleared. Reading the data clears kReceived.
  if ((status & kOverrun) != 0) reg(kClear) = kOverrun;
  if ((status & kReceived) == 0) return false;
  byte = static_cast<uint8_t>(reg(kReceiveData));
  return true;
}

void uart_drain() {
  while ((reg(kStatus) & kSent) == 0) {
  }
}

}  // namespace runner
