// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fault handler that continues the application instead of ending the emulator.

#include <cstdint>

namespace thimble::firmware {

/// Replaces the handler of HardFault. After a fault, `continuation` is called in thread mode with
/// an empty stack; it must not return. The functions of the C library that were interrupted stay
/// so.
void continue_after_fault(void (*continuation)());

/// Returns the configurable fault status (CFSR) of the fault.
uint32_t fault_status();

}  // namespace thimble::firmware
