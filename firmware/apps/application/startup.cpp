// SPDX-License-Identifier: Apache-2.0
// Reset handler for a core with VTOR at 0, and a fault handler that stops.

#include <cstdint>
#include <cstring>

extern "C" {
extern uint32_t stack_top[];
extern uint8_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
int main();
void reset_handler();
void fault_handler();
}

namespace {

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
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  auto& coprocessors = *reinterpret_cast<volatile uint32_t*>(uintptr_t{0xE000ED88});
  coprocessors = coprocessors | 0xFU << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  std::memcpy(data_start, data_image, static_cast<size_t>(data_end - data_start));
  std::memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
  main();
  fault_handler();
}

extern "C" void fault_handler() {
  for (;;) __asm__ volatile("wfi");
}
