// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory-mapped registers of the Ethos-U that a driver uses: offsets from the base and bits.
// The driver writes them and the simulated device implements them. Sources: docs/ethos-u.md.

#include <stdint.h>

namespace thimble::ethos_u::reg {

inline constexpr uint32_t kId = 0x00;  // fields: driver_payload.h
inline constexpr uint32_t kStatus = 0x04;
inline constexpr uint32_t kCommand = 0x08;
inline constexpr uint32_t kReset = 0x0C;
inline constexpr uint32_t kQueueBase = 0x10;  // address of the stream, 64 bits
inline constexpr uint32_t kQueueRead = 0x18;  // number of bytes of the stream read so far
inline constexpr uint32_t kQueueConfig = 0x1C;
inline constexpr uint32_t kQueueBytes = 0x20;
inline constexpr uint32_t kProtection = 0x24;
inline constexpr uint32_t kConfig = 0x28;
inline constexpr uint32_t kPowerControl = 0x38;      // U85
inline constexpr uint32_t kRegionConfig = 0x3C;      // two bits per region
inline constexpr uint32_t kAxiLimit0 = 0x40;         // U55, U65: four registers
inline constexpr uint32_t kMemoryAttribute0 = 0x40;  // U85: four registers
inline constexpr uint32_t kAxiSram = 0x50;           // U85
inline constexpr uint32_t kAxiExternal = 0x54;       // U85
inline constexpr uint32_t kBase0 = 0x80;             // eight registers of 64 bits
inline constexpr uint32_t kBases = 8;

// Bits of kStatus.
inline constexpr uint32_t kRunning = 1U << 0;
inline constexpr uint32_t kInterrupt = 1U << 1;
inline constexpr uint32_t kBusFault = 1U << 2;
inline constexpr uint32_t kResetting = 1U << 3;
inline constexpr uint32_t kParseFault = 1U << 4;
inline constexpr uint32_t kEndReached = 1U << 5;
inline constexpr uint32_t kWeightFault = 1U << 7;  // U55, U65
inline constexpr uint32_t kEccFault = 1U << 8;
inline constexpr uint32_t kBranchFault = 1U << 9;  // U85
inline constexpr uint32_t kFaults =
    kBusFault | kParseFault | kWeightFault | kEccFault | kBranchFault;

// Bits of kCommand.
inline constexpr uint32_t kRun = 1U << 0;
inline constexpr uint32_t kClearInterrupt = 1U << 1;
inline constexpr uint32_t kClockAndPower = 3U << 2;  // allow clock and power off when idle

// Bits of kReset; kProtection has the same bits after the reset.
inline constexpr uint32_t kPrivileged = 1U << 0;
inline constexpr uint32_t kNonSecure = 1U << 1;

}  // namespace thimble::ethos_u::reg
