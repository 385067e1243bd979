/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in driver as a product links it. The product provides the platform functions, and all
 * ten are called, as by the vendor's driver. */
#define AXON_STANDIN_WITHOUT_PLATFORM
#include "standin_driver.c"

uint32_t nrf_axon_platform_disable_interrupts(void);
void nrf_axon_platform_restore_interrupts(uint32_t state);
void nrf_axon_platform_free_reservation_from_user(void);
bool nrf_axon_platform_reserve_for_user(void);
bool nrf_axon_platform_reserve_for_driver(void);
void nrf_axon_platform_free_reservation_from_driver(void);
void nrf_axon_platform_generate_driver_event(void);
void nrf_axon_platform_generate_user_event(void);
void nrf_axon_platform_wait_for_user_event(void);
void nrf_axon_platform_printf(const char* format, ...);

int nrf_axon_driver_init(void* base) {
  return base == NULL ? -6 : 0;
}

int nrf_axon_driver_power_on(void) {
  nrf_axon_platform_restore_interrupts(nrf_axon_platform_disable_interrupts());
  nrf_axon_platform_printf("on\n");
  return 0;
}

int nrf_axon_handle_interrupt(void) {
  nrf_axon_platform_generate_driver_event();
  return 3;
}

int nrf_axon_process_driver_event(void) {
  if (!nrf_axon_platform_reserve_for_driver()) {
    nrf_axon_platform_generate_user_event();
    nrf_axon_platform_wait_for_user_event();
    return 0;
  }
  nrf_axon_platform_free_reservation_from_driver();
  return 0;
}
