#pragma once
/* The names that generated headers use of this one, for tests without the vendor's. */
#include <stdint.h>

#include "drivers/axon/nrf_axon_driver.h"

extern uint32_t nrf_axon_interlayer_buffer[NRF_AXON_INTERLAYER_BUFFER_SIZE / sizeof(uint32_t)];
