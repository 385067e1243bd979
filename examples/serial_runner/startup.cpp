// SPDX-License-Identifier: Apache-2.0
// Reset handler, faults, the cycle counter and the stack's high-water mark, for every core from
// Armv6-M to Armv8.1-M.

#include <cstring>

#include "board.h"

extern "C" {
extern uint32_t stack_bottom[], stack_top[];
extern uint8_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
int main();
void reset_handler();
void fault_handler();
void systick_handler();
void uart_handler();
[[noreturn]] void fault_report(const uint32_t* stack_pointer);
}

namespace {

constexpr uint32_t kPaint = 0xC0DEFADE;
constexpr uint32_t kSysTickTop = 0xFFFFFF;
volatile uint32_t systick_wraps;
bool has_dwt;

volatile uint32_t& reg(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}
constexpr uintptr_t kSysTickControl = 0xE000E010, kSysTickReload = 0xE000E014,
                    kSysTickValue = 0xE000E018, kResetControl = 0xE000ED0C,
                    kFaultStatus = 0xE000ED28, kCoprocessors = 0xE000ED88,
                    kDebugControl = 0xE000EDFC, kDwtControl = 0xE0001000, kDwtCycles = 0xE0001004;

constexpr uint32_t kInterrupts = 64;
struct Vectors {
  const void* stack;
  void (*handlers[15])();
  void (*interrupts[kInterrupts])();
};
static_assert(BOARD_UART_IRQ < kInterrupts);

[[gnu::used, gnu::section(".vectors")]] const Vectors vectors = {
    stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, systick_handler},
#define EIGHT                                                                         \
  uart_handler, uart_handler, uart_handler, uart_handler, uart_handler, uart_handler, \
      uart_handler, uart_handler
    {EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT}};  // only that of the UART is enabled
#undef EIGHT

}  // namespace

namespace runner {

void counter_start() {
#if __ARM_ARCH >= 7 || defined(__ARM_ARCH_8M_MAIN__)
  reg(kDebugControl) = reg(kDebugControl) | 1U << 24;  // TRCENA
  reg(kDwtCycles) = 0;
  reg(kDwtControl) = reg(kDwtControl) | 1;  // CYCCNTENA
  const uint32_t before = reg(kDwtCycles);
  for (int i = 0; i < 100; ++i) __asm__ volatile("nop");
  has_dwt = reg(kDwtCycles) != before;
#endif
  if (has_dwt) return;
  reg(kSysTickReload) = kSysTickTop;
  reg(kSysTickValue) = 0;
  reg(kSysTickControl) = 7;  // core clock, interrupt, enable
}

bool counter_is_dwt() {
  return has_dwt;
}

/// The DWT's counter has 32 bits: differences are exact up to 2^32 cycles.
uint64_t counter_read() {
  if (has_dwt) return reg(kDwtCycles);
  uint32_t wraps = 0, value = 0;
  do {
    wraps = systick_wraps;
    value = reg(kSysTickValue);
  } while (wraps != systick_wraps);
  return static_cast<uint64_t>(wraps) * (kSysTickTop + 1) + (kSysTickTop - value);
}

uint32_t stack_high_water() {
  const volatile uint32_t* word = stack_bottom;
  while (word < stack_top && *word == kPaint) ++word;
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stack_top) -
                               reinterpret_cast<uintptr_t>(word));
}

[[noreturn]] void board_reset() {
  __asm__ volatile("dsb" ::: "memory");
  reg(kResetControl) = 0x05FA0004;  // SYSRESETREQ
  for (;;) {
  }
}

}  // namespace runner

extern "C" void systick_handler() {
  systick_wraps = systick_wraps + 1;
}

extern "C" void reset_handler() {
#if __ARM_ARCH >= 8
  __asm__ volatile("msr msplim, %0" ::"r"(stack_bottom));
#endif
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  reg(kCoprocessors) = reg(kCoprocessors) | 0xFU << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  auto* const here = static_cast<uint32_t*>(__builtin_frame_address(0)) - 16;
  for (volatile uint32_t* word = stack_bottom; word < here; ++word) *word = kPaint;
  std::memcpy(data_start, data_image, static_cast<size_t>(data_end - data_start));
  std::memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
  main();
  runner::board_reset();
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

/// The core has pushed eight words if they fit into the stack.
extern "C" [[noreturn]] void fault_report(const uint32_t* stack_pointer) {
  uint32_t cause = 0;
#if __ARM_ARCH >= 7 || defined(__ARM_ARCH_8M_MAIN__)
  cause = reg(kFaultStatus);
#endif
  const bool framed = stack_pointer >= stack_bottom && stack_pointer + 8 <= stack_top;
  runner::send_fault(framed ? stack_pointer[6] : 0, cause);
}
