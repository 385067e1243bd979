// SPDX-License-Identifier: Apache-2.0
#ifndef ZEPHYR_STANDIN_TIMING_H
#define ZEPHYR_STANDIN_TIMING_H
#include <stdint.h>
typedef uint64_t timing_t;
void timing_init(void);
void timing_start(void);
void timing_stop(void);
timing_t timing_counter_get(void);
uint64_t timing_cycles_get(volatile timing_t* const start, volatile timing_t* const end);
uint64_t timing_cycles_to_ns(uint64_t cycles);
#endif
