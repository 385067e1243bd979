// SPDX-License-Identifier: Apache-2.0
#ifndef PLATFORM_H
#define PLATFORM_H
/* Declarations of the driver, as in the published headers. */

#include <stdbool.h>
#include <stdint.h>

int nrf_axon_driver_init(void* base);
int nrf_axon_driver_power_on(void);
int nrf_axon_handle_interrupt(void);
int nrf_axon_process_driver_event(void);

uint32_t nrf_axon_platform_disable_interrupts(void);
void nrf_axon_platform_restore_interrupts(uint32_t state);
bool nrf_axon_platform_reserve_for_user(void);
void nrf_axon_platform_free_reservation_from_user(void);
bool nrf_axon_platform_reserve_for_driver(void);
void nrf_axon_platform_free_reservation_from_driver(void);
void nrf_axon_platform_generate_driver_event(void);
void nrf_axon_platform_generate_user_event(void);
void nrf_axon_platform_wait_for_user_event(void);
void nrf_axon_platform_printf(const char* format, ...);

void AXON_IRQHandler(void);

#endif /* PLATFORM_H */
