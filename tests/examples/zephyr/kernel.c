/* SPDX-License-Identifier: Apache-2.0 */
/* printk and a clock for the emulated board. The clock is SysTick, a 24-bit down counter. */
#include <stdarg.h>
#include <stdio.h>
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#include <zephyr/timing/timing.h>

#include "board.h"

enum { kCyclesPerMicrosecond = 20, kTop = 0xFFFFFF };

static volatile uint32_t* systick(uint32_t offset) {
  return (volatile uint32_t*)(uintptr_t)(0xE000E010u + offset);
}

void printk(const char* format, ...) {
  char text[128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  uart_text(text);
}

void timing_init(void) {
  *systick(4) = kTop;
  *systick(8) = 0;
}

void timing_start(void) {
  *systick(0) = 5;
}

void timing_stop(void) {
  *systick(0) = 0;
}

timing_t timing_counter_get(void) {
  return kTop - *systick(8);
}

uint64_t timing_cycles_get(volatile timing_t* const start, volatile timing_t* const end) {
  return (*end - *start) & kTop;
}

uint64_t timing_cycles_to_ns(uint64_t cycles) {
  return cycles * 1000 / kCyclesPerMicrosecond;
}
