/* SPDX-License-Identifier: Apache-2.0 */
/* The ten platform functions that Nordic's AXON driver requires, without an operating system: the
 * core polls, one program runs at a time, and nothing is queued. Names and signatures are those of
 * the published header axon/nrf_axon_platform.h; docs/nordic-axon.md lists them.
 *
 * Before the first inference the application must power the NPU, call nrf_axon_driver_init with its
 * address, and then call nrf_axon_driver_power_on. */

#include "platform.h"

#include <stdarg.h>

static volatile uint32_t user_events;
static volatile uint32_t reservations;

/* 1, 2: critical sections of the driver, which are short. */
uint32_t nrf_axon_platform_disable_interrupts(void) {
  uint32_t state;
  __asm volatile("mrs %0, primask\n cpsid i" : "=r"(state)::"memory");
  return state;
}
void nrf_axon_platform_restore_interrupts(uint32_t state) {
  __asm volatile("msr primask, %0" ::"r"(state) : "memory");
}

/* 3, 4: reserve the NPU for the application. It may be reserved several times and is freed once. */
bool nrf_axon_platform_reserve_for_user(void) {
  const uint32_t state = nrf_axon_platform_disable_interrupts();
  ++reservations;
  nrf_axon_platform_restore_interrupts(state);
  return true;
}
void nrf_axon_platform_free_reservation_from_user(void) {
  const uint32_t state = nrf_axon_platform_disable_interrupts();
  reservations = 0;
  nrf_axon_platform_restore_interrupts(state);
}

/* 5, 6: for queued inferences, which are not used here. */
bool nrf_axon_platform_reserve_for_driver(void) {
  return reservations == 0;
}
void nrf_axon_platform_free_reservation_from_driver(void) {}

/* 7: called by the interrupt handler. The driver processes the event immediately. */
void nrf_axon_platform_generate_driver_event(void) {
  nrf_axon_process_driver_event();
}

/* 8, 9: signal the end of a run, and wait for it. */
void nrf_axon_platform_generate_user_event(void) {
  user_events = 1;
}
void nrf_axon_platform_wait_for_user_event(void) {
  while (user_events == 0) __asm volatile("wfe");
  user_events = 0;
}

/* 10: messages of the driver are discarded. */
void nrf_axon_platform_printf(const char* format, ...) {
  (void)format;
}

void AXON_IRQHandler(void) {
  nrf_axon_handle_interrupt();
}
