// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory protection unit: while it is enabled, every access outside of the ranges is a fault,
// which the fault handler reports. Armv8-M has ranges in steps of 32 bytes, Armv7-M has powers of
// two with eight subregions.

#include <cstddef>
#include <cstdint>

namespace thimble::firmware {

enum class Access : uint8_t { kCode, kReadOnly, kReadWrite };

struct Range {
  uintptr_t begin, end;
  Access access;
};

/// Number of regions of this core's unit.
uint32_t mpu_regions();
/// The smallest step and the alignment of a range of `bytes` bytes.
size_t mpu_step(size_t bytes);
/// Returns the size of the zone, at a multiple of itself, in which each range of up to `bytes`
/// bytes that begins or ends at multiples of mpu_step() can be placed.
size_t mpu_zone_bytes(size_t bytes);

/// Programs the ranges and enables the unit. A later range has priority over an earlier one on
/// Armv7-M; on Armv8-M ranges must not overlap. Ends the program if a range has no exact region.
void mpu_enable(const Range* ranges, uint32_t count);
void mpu_disable();

}  // namespace thimble::firmware
