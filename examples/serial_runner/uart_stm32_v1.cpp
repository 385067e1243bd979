// SPDX-License-Identifier: Apache-2.0
// USART of STM32F1, F2, F4 and L1: registers SR, DR, BRR and CR1. RM0090, section 30.6.
// BOARD_UART is its address, BOARD_CLOCK_HZ its clock. board_start() enables clocks and pins.

#include "uart.h"

namespace runner {
namespace {

volatile uint32_t& reg(uint32_t offset) {
  return *reinterpret_cast<volatile uint32_t*>(BOARD_UART + offset);
}
constexpr uint32_t kStatus = 0x00, kData = 0x04, kBaudRate = 0x08, kControl1 = 0x0C;
constexpr uint32_t kOverrun = 1U << 3, kReceived = 1U << 5, kSent = 1U << 6,
                   kTransmitEmpty = 1U << 7;
constexpr uint32_t kReceiverEnable = 1U << 2, kTransmitterEnable = 1U << 3,
                   kReceiveInterrupt = 1U << 5, kEnable = 1U << 13;

static_assert(stm32_reaches(BOARD_CLOCK_HZ, BAUD), "BAUD does not fit the clock of the UART");

}  // namespace

void uart_start(uint32_t baud) {
  reg(kBaudRate) = stm32_divider(BOARD_CLOCK_HZ, baud);
  reg(kControl1) = kEnable | kTransmitterEnable | kReceiverEnable | kReceiveInterrupt;
}

void uart_write(uint8_t byte) {
  while ((reg(kStatus) & kTransmitEmpty) == 0) {
  }
  reg(kData) = byte;
}

bool uart_receive(uint8_t& byte) {
  // Reading the status and then the data ends the interrupt, also that of an overrun.
  if ((reg(kStatus) & (kReceived | kOverrun)) == 0) return false;
  byte = static_cast<uint8_t>(reg(kData));
  return true;
}

void uart_drain() {
  while ((reg(kStatus) & kSent) == 0) {
  }
}

}  // namespace runner
