// SPDX-License-Identifier: Apache-2.0
#pragma once
/* The names of this header that generated headers use, for tests without the vendor's header. */
#include <stdint.h>

#include "drivers/axon/nrf_axon_driver.h"

extern uint32_t nrf_axon_interlayer_buffer[NRF_AXON_INTERLAYER_BUFFER_SIZE / sizeof(uint32_t)];
