// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clock of the core and of the USART after the reset of an STM32. The board's file names one of the
// source files stm32_clock_*.cpp.

namespace runner {

/// Sets the clock that the board's file states as BOARD_CLOCK_HZ.
void stm32_clock_start();

}  // namespace runner
