/* The ten functions of the platform that Nordic's AXON driver wants, without an operating system:
 * the core polls, one program runs at a time, and nothing is queued. Names and signatures are those
 * of the published header axon/nrf_axon_platform.h; docs/nordic-axon.md lists them.
 *
 * Before the first inference the application powers the NPU and calls nrf_axon_driver_init with its
 * address, nrf_axon_driver_power_on after that. */

#include "platform.h"

#include <stdarg.h>

static volatile uint32_t user_events;
static volatile uint32_t reservations;

/* 1, 2: short critical sections of the driver. */
uint32_t nrf_axon_platform_disable_interrupts(void) {
  uint32_t state;
  __asm volatile("mrs %0, primask\n cpsid i" : "=r"(state)::"memory");
  return state;
}
void nrf_axon_platform_restore_interrupts(uint32_t state) {
  __asm volatile("msr primask, %0" ::"r"(state) : "memory");
}

/* 3, 4: the NPU is the caller's, who may ask more than once before it is free again. */
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

/* 5, 6: for queued work, of which there is none here. */
bool nrf_axon_platform_reserve_for_driver(void) { return reservations == 0; }
void nrf_axon_platform_free_reservation_from_driver(void) {}

/* 7: the interrupt found something to do; the driver does it at once. */
void nrf_axon_platform_generate_driver_event(void) { nrf_axon_process_driver_event(); }

/* 8, 9: the end of a run whose caller waits for the interrupt. */
void nrf_axon_platform_generate_user_event(void) { user_events = 1; }
void nrf_axon_platform_wait_for_user_event(void) {
  while (user_events == 0) __asm volatile("wfe");
  user_events = 0;
}

/* 10: messages of the driver; nobody reads them. */
void nrf_axon_platform_printf(const char *format, ...) { (void)format; }

void AXON_IRQHandler(void) { nrf_axon_handle_interrupt(); }
