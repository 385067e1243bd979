// SPDX-License-Identifier: Apache-2.0
#pragma once
// Registers of the System Control Space.

#include <cstdint>

namespace thimble::firmware {

inline volatile uint32_t& system_register(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}

}  // namespace thimble::firmware
