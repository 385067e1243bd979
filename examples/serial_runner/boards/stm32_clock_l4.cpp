// SPDX-License-Identifier: Apache-2.0
// STM32L4: raises the internal oscillator MSI from 4 to 16 MHz, the most that the flash delivers
// without wait states in the voltage range 1, which the chip has after the reset. RM0351, RCC_CR
// and the table of wait states of the flash.

#include <cstdint>

#include "stm32_clock.h"

namespace runner {

void stm32_clock_start() {
  auto& control = *reinterpret_cast<volatile uint32_t*>(0x40021000);  // RCC_CR
  constexpr uint32_t kMsiReady = 1U << 1, kRangeFromHere = 1U << 3, kRange = 15U << 4,
                     kRange16MHz = 8U << 4;
  while ((control & kMsiReady) == 0) {
  }
  control = control | kRangeFromHere;
  control = (control & ~kRange) | kRange16MHz;
}

}  // namespace runner
