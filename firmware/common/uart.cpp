// SPDX-License-Identifier: Apache-2.0
// Drivers of two UARTs: Arm's CMSDK UART on the MPS boards and the nRF51 UART on microbit. The
// board's file selects the kind and the address.

#include "firmware/common/uart.h"

#include <cstdint>

namespace thimble::firmware {
namespace {

volatile uint32_t& reg(uint32_t offset) {
  return *reinterpret_cast<volatile uint32_t*>(THIMBLE_UART_ADDRESS + offset);
}

// An arbitrary baud rate divider: emulators ignore it, silicon needs one for the board's clock.
constexpr uint32_t kDivider = 16;

#if defined(THIMBLE_UART_CMSDK)
constexpr uint32_t kData = 0x0, kState = 0x4, kControl = 0x8, kBaudDivider = 0x10;
constexpr uint32_t kTransmitFull = 1, kTransmitEnable = 1;

void start() {
  reg(kBaudDivider) = kDivider;
  reg(kControl) = kTransmitEnable;
}

void put(char letter) {
  while ((reg(kState) & kTransmitFull) != 0) {
  }
  reg(kData) = static_cast<uint8_t>(letter);
}
#elif defined(THIMBLE_UART_NRF)
constexpr uint32_t kStartTransmit = 0x008, kReady = 0x11C, kEnable = 0x500, kData = 0x51C;
constexpr uint32_t kEnabled = 4;

void start() {
  (void)kDivider;
  reg(kEnable) = kEnabled;
  reg(kStartTransmit) = 1;
}

void put(char letter) {
  reg(kReady) = 0;
  reg(kData) = static_cast<uint8_t>(letter);
  while (reg(kReady) == 0) {
  }
}
#endif

}  // namespace

void uart_print(const char* text) {
  start();
  for (; *text != 0; ++text) put(*text);
}

}  // namespace thimble::firmware
