// SPDX-License-Identifier: Apache-2.0
#pragma once
/* The names of this header that generated headers use, for tests without the vendor's header. */
#include <stdint.h>

#define NRF_AXON_VERSION 0x010400
typedef uintptr_t NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE;
typedef int nrf_axon_result_e;
