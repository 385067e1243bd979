// SPDX-License-Identifier: Apache-2.0
#include "firmware/apps/memory_protection/mpu.h"

#include "firmware/common/exit_codes.h"
#include "firmware/common/registers.h"
#include "firmware/common/semihosting.h"

namespace thimble::firmware {
namespace {

// Arm ARM, "Memory Protection Unit" of Armv7-M (B3.5) and of Armv8-M (D1.2.149 ff.).
constexpr uintptr_t kType = 0xE000ED90, kControl = 0xE000ED94, kNumber = 0xE000ED98;
constexpr uintptr_t kBase = 0xE000ED9C, kAttributesOrLimit = 0xE000EDA0;
constexpr uint32_t kEnable = 1;  // without PRIVDEFENA: no default map for privileged code

void barrier() {
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}

[[noreturn]] void fail(const char* message) {
  mpu_disable();
  host_print(message);
  host_exit(kExitUsage);
}

size_t power_of_two(size_t bytes) {
  size_t power = 256;  // the smallest region with subregions
  while (power < bytes) power *= 2;
  return power;
}

}  // namespace

uint32_t mpu_regions() {
  return system_register(kType) >> 8 & 0xFF;
}

#if __ARM_ARCH >= 8

constexpr uintptr_t kMemoryAttributes = 0xE000EDC0;
constexpr uint32_t kNormalMemory = 0x44;  // not cached
constexpr size_t kStep = 32;

size_t mpu_step(size_t) {
  return kStep;
}
size_t mpu_zone_bytes(size_t bytes) {
  return power_of_two(bytes);
}

void set_region(uint32_t number, const Range& range) {
  if (range.begin % kStep != 0 || range.end % kStep != 0) fail("error: range without region\n");
  const uint32_t read_only = range.access == Access::kReadWrite ? 0 : 2;
  const uint32_t never_executed = range.access == Access::kCode ? 0 : 1;
  system_register(kNumber) = number;
  system_register(kBase) = range.begin | read_only << 1 | never_executed;
  system_register(kAttributesOrLimit) = ((range.end - kStep) & ~uintptr_t{31}) | kEnable;
}

void set_memory_types() {
  system_register(kMemoryAttributes) = kNormalMemory;
}

#else

constexpr uint32_t kSubregions = 8;

size_t mpu_step(size_t bytes) {
  return power_of_two(bytes) / kSubregions;
}
size_t mpu_zone_bytes(size_t bytes) {
  return power_of_two(bytes);
}

/// The smallest region that contains the range, without the subregions outside of it.
void set_region(uint32_t number, const Range& range) {
  uint32_t log2 = 8;  // the size of the region
  while (log2 < 32 && (range.begin >> log2 << log2) + (uintptr_t{1} << log2) < range.end) ++log2;
  const uintptr_t base = range.begin >> log2 << log2;
  const size_t step = (size_t{1} << log2) / kSubregions;
  if ((range.begin - base) % step != 0 || (range.end - base) % step != 0) {
    fail("error: range without region\n");
  }
  uint32_t disabled = 0;
  for (uint32_t i = 0; i < kSubregions; ++i) {
    const uintptr_t at = base + i * step;
    if (at < range.begin || at >= range.end) disabled |= 1U << i;
  }
  const uint32_t permission = range.access == Access::kReadWrite ? 1 : 5;  // privileged only
  const uint32_t never_executed = range.access == Access::kCode ? 0 : 1;
  constexpr uint32_t kNormalMemory = 1U << 3;  // TEX 1, not cached
  system_register(kNumber) = number;
  system_register(kBase) = base;
  system_register(kAttributesOrLimit) = never_executed << 28 | permission << 24 |
                                        kNormalMemory << 16 | disabled << 8 | (log2 - 1) << 1 |
                                        kEnable;
}

/// Each region has its own memory type.
void set_memory_types() {}

#endif

void mpu_enable(const Range* ranges, uint32_t count) {
  mpu_disable();
  if (count > mpu_regions()) fail("error: too few regions\n");
  set_memory_types();
  for (uint32_t i = 0; i < mpu_regions(); ++i) {
    system_register(kNumber) = i;
    system_register(kAttributesOrLimit) = 0;
  }
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (ranges[i].begin != ranges[i].end) set_region(used++, ranges[i]);
  }
  barrier();
  system_register(kControl) = kEnable;
  barrier();
}

void mpu_disable() {
  barrier();
  system_register(kControl) = 0;
  barrier();
}

}  // namespace thimble::firmware
