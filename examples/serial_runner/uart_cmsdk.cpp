// SPDX-License-Identifier: Apache-2.0
// UART of Arm's Cortex-M System Design Kit (MPS2 and MPS3 boards). Arm DDI 0479D, section 4.3.
// BOARD_UART is its address, BOARD_CLOCK_HZ its clock.

#include "uart.h"

namespace runner {
namespace {

volatile uint32_t& reg(uint32_t offset) {
  return *reinterpret_cast<volatile uint32_t*>(BOARD_UART + offset);
}
constexpr uint32_t kData = 0x0, kState = 0x4, kControl = 0x8, kInterrupt = 0xC, kBaudDivider = 0x10;
constexpr uint32_t kTransmitFull = 1, kReceiveFull = 2, kOverruns = 0xC;
constexpr uint32_t kTransmitEnable = 1, kReceiveEnable = 2, kReceiveInterrupt = 8;
constexpr uint32_t kDividerMin = 16;

}  // namespace

void uart_start(uint32_t baud) {
  const uint32_t divider = (BOARD_CLOCK_HZ + baud / 2) / baud;
  reg(kBaudDivider) = divider < kDividerMin ? kDividerMin : divider;
  reg(kControl) = kTransmitEnable | kReceiveEnable | kReceiveInterrupt;
}

void uart_write(uint8_t byte) {
  while ((reg(kState) & kTransmitFull) != 0) {
  }
  reg(kData) = byte;
}

bool uart_receive(uint8_t& byte) {
  const uint32_t state = reg(kState);
  if ((state & kOverruns) != 0) reg(kState) = kOverruns;
  reg(kInterrupt) = 2;  // receive
  if ((state & kReceiveFull) == 0) return false;
  byte = static_cast<uint8_t>(reg(kData));
  return true;
}

void uart_drain() {
  while ((reg(kState) & kTransmitFull) != 0) {
  }
}

}  // namespace runner
