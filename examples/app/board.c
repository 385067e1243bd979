/* SPDX-License-Identifier: Apache-2.0 */
/* Reset handler, fault handler, and the CMSDK UART of Arm's MPS boards. Every program end prints a
 * last line that starts with "END" and then calls the emulator's semihosting; where there is none,
 * this call is a fault, after which the board waits. */
#include "board.h"

#include <stddef.h>
#include <string.h>

extern uint32_t stack_bottom[], stack_top[];
extern uint8_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
/* Only board_kernel_code.ld defines them; elsewhere all are 0. */
extern uint8_t kernel_code_start[] __attribute__((weak)), kernel_code_end[] __attribute__((weak)),
    kernel_code_image[] __attribute__((weak));
int main(void);
void reset_handler(void);
void fault_handler(void);
void fault_report(void);
/* An operating system of the application defines these handlers. */
void SVC_Handler(void) __attribute__((weak, alias("fault_handler")));
void PendSV_Handler(void) __attribute__((weak, alias("fault_handler")));
void SysTick_Handler(void) __attribute__((weak, alias("fault_handler")));

__attribute__((used, section(".vectors"))) static const void* const vectors[16] = {
    stack_top,     reset_handler, fault_handler,  fault_handler,  fault_handler, fault_handler,
    fault_handler, fault_handler, fault_handler,  fault_handler,  fault_handler, SVC_Handler,
    fault_handler, fault_handler, PendSV_Handler, SysTick_Handler};

static volatile int ended;

static volatile uint32_t* reg(uint32_t offset) {
  return (volatile uint32_t*)(uintptr_t)(UART_ADDRESS + offset);
}

void uart_start(void) {
  *reg(0x10) = 16; /* baud divider: emulators ignore it */
  *reg(0x08) = 1;  /* transmit enable */
}

static void put(char letter) {
  while ((*reg(0x04) & 1) != 0) {
  }
  *reg(0x00) = (uint8_t)letter;
}

void uart_text(const char* text) {
  for (; *text != 0; ++text) put(*text);
}

void uart_number(int32_t value) {
  char digits[12];
  int at = sizeof digits - 1;
  uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) put('-');
  uart_text(digits + at);
}

void uart_hex(const void* data, uint32_t bytes) {
  const uint8_t* at = data;
  for (uint32_t i = 0; i < bytes; ++i) {
    put("0123456789abcdef"[at[i] >> 4]);
    put("0123456789abcdef"[at[i] & 15]);
  }
}

void reset_handler(void) {
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
  __asm__ volatile("msr msplim, %0" ::"r"(stack_bottom));
#endif
  *(volatile uint32_t*)0xE000ED88 |= 0xFu << 20; /* CPACR: floating point and Helium */
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  memcpy(kernel_code_start, kernel_code_image,
         (size_t)((uintptr_t)kernel_code_end - (uintptr_t)kernel_code_start));
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  memcpy(data_start, data_image, (size_t)(data_end - data_start));
  memset(bss_start, 0, (size_t)(bss_end - bss_start));
  uart_start();
  board_end(main());
}

void board_end(int failed) {
  uart_text(failed == 0 ? "END ok\n" : "END failed\n");
  ended = 1;
  /* SYS_EXIT of Arm's semihosting, with the reason ApplicationExit or RunTimeErrorUnknown. */
  register uint32_t operation __asm__("r0") = 0x18;
  register uint32_t reason __asm__("r1") = failed == 0 ? 0x20026 : 0x20023;
  __asm__ volatile("bkpt 0xab" ::"r"(operation), "r"(reason) : "memory");
  for (;;) {
  }
}

/* Uses a fresh stack, because after an overflow the old one is unusable. */
__attribute__((naked)) void fault_handler(void) {
  __asm__ volatile("ldr r0, =stack_top\n\tmov sp, r0\n\tb fault_report");
}

void fault_report(void) {
  if (ended == 0) {
    uart_start();
    uart_text("END fault\n");
    ended = 1;
  }
  for (;;) {
  }
}
