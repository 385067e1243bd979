// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of startup.cpp and of the board.

#include <cstddef>
#include <cstdint>

namespace runner {

/// Enables the clocks and pins of the UART. boards/BOARD.cmake names the file.
void board_start();

/// Counts cycles with the DWT, or with SysTick if the core has none.
void counter_start();
bool counter_is_dwt();
uint64_t counter_read();

/// Bytes of the stack that were used since the reset.
uint32_t stack_high_water();

[[noreturn]] void board_reset();

/// Called with a stack of its own; sends a fault frame.
[[noreturn]] void send_fault(uint32_t program_counter, uint32_t cause);

}  // namespace runner

extern "C" {
extern uint8_t ram_start[], ram_end[];  // RAM for the model, arena, state and inputs
extern const uint8_t flash_model[];     // flash_model.S
extern const uint32_t flash_model_bytes;
}
