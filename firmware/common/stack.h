// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the stack. stack_paint() fills the free part below the caller with a pattern; the
// high-water mark is the lowest word without it. Overflows are detected by hardware: by the stack
// limit register on Armv8-M, and everywhere by the unmapped memory below the stack.

#include <cstdint>

namespace thimble::firmware {

void stack_paint();
/// Bytes between the top of the stack and the lowest word used since stack_paint().
uint32_t stack_high_water();
/// Size of the whole stack region in bytes.
uint32_t stack_bytes();

}  // namespace thimble::firmware
