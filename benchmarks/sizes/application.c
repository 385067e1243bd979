/* SPDX-License-Identifier: Apache-2.0 */
/* The application around a model whose sizes are measured (linked.py): start-up code and the host's
 * console. It calls no function of the C library, so that the linker keeps such functions only for
 * the model. Its own sections are subtracted by the names of its object files. */

#include "application.h"

#include <stddef.h>

extern uint32_t stack_bottom[], stack_top[];
extern uint8_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
int main(void);
void reset_handler(void);
void fault_handler(void);

struct vectors {
  const void* stack;
  void (*handlers[15])(void);
};
__attribute__((used, section(".vectors"))) static const struct vectors vectors = {
    stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler}};

enum { SYS_OPEN = 1, SYS_WRITE0 = 4, SYS_WRITE = 5, SYS_EXIT_EXTENDED = 0x20 };

static uint32_t semihosting(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void end(uint32_t code) {
  const uint32_t block[2] = {0x20026, code}; /* ADP_Stopped_ApplicationExit */
  for (;;) (void)semihosting(SYS_EXIT_EXTENDED, block);
}

/* Prints eight hexadecimal digits: a decimal number needs a division, which is a function of the C
 * library on some cores. */
static void print_number(const char* name, uint32_t number) {
  char text[10];
  size_t i;
  for (i = 0; i < 8; ++i) {
    const uint32_t digit = number >> (28 - 4 * i) & 15;
    text[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
  }
  text[8] = '\n';
  text[9] = 0;
  (void)semihosting(SYS_WRITE0, name);
  (void)semihosting(SYS_WRITE0, text);
}

void write_output(const void* data, uint32_t bytes) {
  static uint32_t file;
  if (file == 0) {
    const uint32_t open[3] = {(uint32_t)(uintptr_t) "out", 5, 3}; /* mode 5: "wb" */
    file = semihosting(SYS_OPEN, open);
  }
  const uint32_t block[3] = {file, (uint32_t)(uintptr_t)data, bytes};
  if (semihosting(SYS_WRITE, block) != 0) end(3);
}

void fault_handler(void) {
  (void)semihosting(SYS_WRITE0, "fault\n");
  end(2);
}

void reset_handler(void) {
  uint8_t* to;
  const uint8_t* from = data_image;
#if defined(__ARM_FP)
  *(volatile uint32_t*)0xE000ED88u |= 0xFu << 20; /* CPACR: enables floating point and vectors */
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  for (to = data_start; to < data_end; ++to) *to = *from++;
  for (to = bss_start; to < bss_end; ++to) *to = 0;
  end((uint32_t)main());
}

/* Calls the model with a painted stack. The model can use the words below the stack pointer. */
int main(void) {
  const uint32_t paint = 0xC0DEFADEu;
  volatile uint32_t* word;
  uint32_t* stack;
  uint32_t status;
  __asm__ volatile("mov %0, sp" : "=r"(stack));
  for (word = stack_bottom; word < stack; ++word) *word = paint;
  status = call_model();
  for (word = stack_bottom; word < stack && *word == paint;) ++word;
  print_number("status ", status);
  print_number("stack ", (uint32_t)((uintptr_t)stack - (uintptr_t)word));
  print_number("callers ", (uint32_t)((uintptr_t)stack_top - (uintptr_t)stack));
  if (status == 0) write_outputs();
  return (int)status;
}
