// SPDX-License-Identifier: Apache-2.0
// Startup code for every core from Armv6-M to Armv8.1-M: stack limit, coprocessors, .data and .bss.
// The only fault handler prints the cause, flushes and ends the emulator.
//
// Configurable faults stay disabled, so that each of them becomes a HardFault. The handler uses a
// stack of its own: after an overflow the old stack is unusable, and the frame that the core tried
// to push may be missing.

#include <cstdint>
#include <cstring>

#include "firmware/common/exit_codes.h"
#include "firmware/common/registers.h"
#include "firmware/common/semihosting.h"
#include "firmware/common/text.h"

extern "C" {
extern uint32_t stack_bottom[], stack_top[];
extern uint8_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
int main();
void reset_handler();
void fault_handler();
[[noreturn]] void fault_report(const uint32_t* stack_pointer);
}

namespace {

using namespace thimble::firmware;

#if __ARM_ARCH >= 7 || defined(__ARM_ARCH_8M_MAIN__)
constexpr bool kHasFaultStatus = true;
#else
constexpr bool kHasFaultStatus = false;
#endif

constexpr uintptr_t kCoprocessorAccess = 0xE000ED88;
constexpr uintptr_t kConfigurableFaultStatus = 0xE000ED28;
constexpr uintptr_t kHardFaultStatus = 0xE000ED2C;
constexpr uint32_t kStackOverflow = 1U << 20;             // UFSR.STKOF, Armv8-M
constexpr uint32_t kStackingFailed = 1U << 12 | 1U << 4;  // BFSR.STKERR, MMFSR.MSTKERR

struct Vectors {
  const void* stack;
  void (*handlers[15])();
};

[[gnu::used, gnu::section(".vectors")]] const Vectors vectors = {
    stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler}};

}  // namespace

extern "C" void reset_handler() {
#if defined(__ARM_FEATURE_CMSE) || __ARM_ARCH >= 8
  __asm__ volatile("msr msplim, %0" ::"r"(stack_bottom));
#endif
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  system_register(kCoprocessorAccess) = system_register(kCoprocessorAccess) | 0xFU << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  std::memcpy(data_start, data_image, static_cast<size_t>(data_end - data_start));
  std::memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
  host_exit(static_cast<uint32_t>(main()));
}

extern "C" [[gnu::naked]] void fault_handler() {
  __asm__ volatile(
      "mrs r0, msp\n\t"
      "ldr r1, =stack_top\n\t"
      "mov sp, r1\n\t"
      "ldr r1, =fault_report\n\t"
      "bx r1\n\t"
      ".ltorg");
}

extern "C" [[noreturn]] void fault_report(const uint32_t* stack_pointer) {
  char buffer[120];
  Text text(buffer, sizeof buffer);
  uint32_t cause = 0;
  if (kHasFaultStatus) cause = system_register(kConfigurableFaultStatus);
  // The core has pushed eight words if they fit.
  const bool framed = stack_pointer >= stack_bottom && stack_pointer + 8 <= stack_top;
  const bool overflow = !framed || (cause & (kStackOverflow | kStackingFailed)) != 0;
  text << (overflow ? "fault: stack overflow" : "fault: HardFault");
  if (kHasFaultStatus) {
    (text << " cfsr ").hex(cause);
    (text << " hfsr ").hex(system_register(kHardFaultStatus));
  }
  if (!overflow) (text << " pc ").hex(stack_pointer[6]);
  text << "\n";
  host_print(text.text());
  host_exit(overflow ? kExitStackOverflow : kExitFault);
}
