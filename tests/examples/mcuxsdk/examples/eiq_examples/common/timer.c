/* SPDX-License-Identifier: Apache-2.0 */
/* SysTick is a 24-bit down counter at the emulated board's 20 MHz. Wraps are counted when they are
 * observed. */
#include "timer.h"

#include <stdint.h>

enum { kCyclesPerMicrosecond = 20, kTop = 0xFFFFFF, kWrapped = 1 << 16 };

static int64_t wraps;

static volatile uint32_t* systick(uint32_t offset) {
  return (volatile uint32_t*)(uintptr_t)(0xE000E010u + offset);
}

void TIMER_Init(void) {
  *systick(4) = kTop;
  *systick(8) = 0;
  *systick(0) = 5;
  while (*systick(8) == 0) {
    /* The counter is 0, as if it had wrapped, until its first tick. */
  }
}

int TIMER_GetTimeInUS(void) {
  uint32_t now = kTop - *systick(8);
  if ((*systick(0) & kWrapped) != 0) {
    ++wraps;
    now = kTop - *systick(8);
  }
  return (int)((wraps * (kTop + 1LL) + now) / kCyclesPerMicrosecond);
}
