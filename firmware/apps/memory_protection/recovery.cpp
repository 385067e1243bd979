// SPDX-License-Identifier: Apache-2.0
#include "firmware/apps/memory_protection/recovery.h"

#include <cstring>

#include "firmware/common/registers.h"

extern "C" {
extern uint32_t stack_top[];
void recovery_handler();
[[noreturn]] void leave_fault(uint32_t exception_return);
}

namespace {

using thimble::firmware::system_register;

constexpr uintptr_t kVectorTable = 0xE000ED08, kFaultStatus = 0xE000ED28,
                    kHardFaultStatus = 0xE000ED2C, kFloatContext = 0xE000EF34;
constexpr size_t kVectors = 16, kHardFault = 3;

alignas(512) uintptr_t vectors[kVectors];
void (*after_fault)();
uint32_t status;

}  // namespace

namespace thimble::firmware {

void continue_after_fault(void (*continuation)()) {
  after_fault = continuation;
  const auto* const table = reinterpret_cast<const uintptr_t*>(system_register(kVectorTable));
  for (size_t i = 0; i < kVectors; ++i) vectors[i] = table[i];
  vectors[kHardFault] = reinterpret_cast<uintptr_t>(&recovery_handler);
  system_register(kVectorTable) = reinterpret_cast<uintptr_t>(vectors);
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}

uint32_t fault_status() {
  return status;
}

}  // namespace thimble::firmware

/// The stack may be unusable after a fault.
extern "C" [[gnu::naked]] void recovery_handler() {
  __asm__ volatile(
      "mov r0, lr\n\t"
      "ldr r1, =stack_top\n\t"
      "mov sp, r1\n\t"
      "b leave_fault\n\t"
      ".ltorg");
}

/// Returns from the exception to the continuation. A frame of eight words without those of the
/// floating-point unit has its address and the T bit of the program status; the other words do not
/// matter.
extern "C" [[noreturn]] void leave_fault(uint32_t exception_return) {
  status = system_register(kFaultStatus);
  system_register(kFaultStatus) = UINT32_MAX;  // bits are cleared by writing 1
  system_register(kHardFaultStatus) = UINT32_MAX;
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  system_register(kFloatContext) = system_register(kFloatContext) & ~1U;  // LSPACT: nothing to save
#endif
  constexpr uint32_t kStatusT = 1U << 24, kBasicFrame = 1U << 4;
  const auto continuation = reinterpret_cast<uintptr_t>(after_fault) & ~uintptr_t{1};
  __asm__ volatile(
      "mov sp, %3\n\t"
      "sub sp, #32\n\t"
      "str %0, [sp, #24]\n\t"
      "str %1, [sp, #28]\n\t"
      "bx %2" ::"l"(continuation),
      "l"(kStatusT), "l"(exception_return | kBasicFrame), "l"(stack_top)
      : "memory");
  __builtin_unreachable();
}
