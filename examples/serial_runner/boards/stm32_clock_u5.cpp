// SPDX-License-Identifier: Apache-2.0
// STM32U5: changes from the internal oscillator MSI of 4 MHz to the HSI of 16 MHz. In the voltage
// range 4, which the chip has after the reset, the flash needs one wait state for it. RM0456,
// RCC_CR, RCC_CFGR1, FLASH_ACR and the table of wait states.

#include <cstdint>

#include "stm32_clock.h"

namespace runner {
namespace {

volatile uint32_t& reg(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}
constexpr uintptr_t kFlashAccess = 0x40022000, kControl = 0x46020C00, kConfiguration = 0x46020C1C;

}  // namespace

void stm32_clock_start() {
  constexpr uint32_t kLatency = 15, kHsiOn = 1U << 8, kHsiReady = 1U << 10;
  constexpr uint32_t kSwitch = 3, kSwitchHsi = 1, kStatusHsi = 1U << 2, kStatus = 3U << 2;
  reg(kFlashAccess) = (reg(kFlashAccess) & ~kLatency) | 1;
  reg(kControl) = reg(kControl) | kHsiOn;
  while ((reg(kControl) & kHsiReady) == 0) {
  }
  reg(kConfiguration) = (reg(kConfiguration) & ~kSwitch) | kSwitchHsi;
  while ((reg(kConfiguration) & kStatus) != kStatusHsi) {
  }
}

}  // namespace runner
