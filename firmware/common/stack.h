#pragma once
// How deep the stack was. Painting fills what is free below the caller; the high-water mark is the
// deepest word that lost the paint. That a stack does not leave its region is the hardware's task:
// the stack limit register on Armv8-M, and everywhere the hole in the memory map below it.

#include <cstdint>

namespace thimble::firmware {

void stack_paint();
/// Bytes between the top of the stack and the deepest word used since stack_paint().
uint32_t stack_high_water();
/// The whole region.
uint32_t stack_bytes();

}  // namespace thimble::firmware
