// SPDX-License-Identifier: Apache-2.0
// STM32F4, F7, H7, G0: the core keeps the internal oscillator with which it starts.

#include "stm32_clock.h"

namespace runner {

void stm32_clock_start() {}

}  // namespace runner
