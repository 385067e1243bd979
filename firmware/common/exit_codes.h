// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exit codes of firmware under an emulator.

#include <cstdint>

namespace thimble::firmware {
inline constexpr uint32_t kExitOk = 0;
inline constexpr uint32_t kExitStatus = 1;  // a thimble_status other than 0 was printed
inline constexpr uint32_t kExitUsage = 2;   // wrong arguments, or an unusable host file
inline constexpr uint32_t kExitFault = 3;
inline constexpr uint32_t kExitStackOverflow = 4;
}  // namespace thimble::firmware
