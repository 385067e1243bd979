/* SPDX-License-Identifier: Apache-2.0 */
/* The AXON objects of a Zephyr application, to which files with AXON delegates refer. Networks that
 * `thimble compile` has written as headers are included if their folder is on the application's
 * include path. */
#include <zephyr/kernel.h>

#include "thimble_axon.h"
#include "thimble_axon_vendor.h"

#if defined(__has_include)
#if __has_include("axon_subgraphs_table.h")
#include "axon_subgraphs_table.h"
#endif
#if __has_include("drivers/axon/nrf_axon_driver.h")
#include "drivers/axon/nrf_axon_driver.h"
#endif
#endif

#ifndef THIMBLE_AXON_SUBGRAPHS
#ifdef NRF_AXON_VERSION
#define THIMBLE_AXON_SUBGRAPHS .driver_version = NRF_AXON_VERSION
#else
#define THIMBLE_AXON_SUBGRAPHS .driver_version = 0 /* no driver version to compare with */
#endif
#endif

#ifdef CONFIG_TIMING_FUNCTIONS
#include <zephyr/timing/timing.h>

enum { kNpuMhz = 128 };

/* Counts while the application has started the timing functions. */
static uint32_t npu_ticks(void) {
  return (uint32_t)(timing_cycles_to_ns(timing_counter_get()) * kNpuMhz / 1000);
}
#define NPU_TICKS npu_ticks
#else
#define NPU_TICKS NULL
#endif

static thimble_axon_counter counters[CONFIG_THIMBLE_NORDIC_AXON_COUNTERS];

const thimble_axon thimble_axon_npu = {
#ifdef CONFIG_THIMBLE_NORDIC_AXON_MODEL
    .run = thimble_axon_model_run,
    .load = thimble_axon_model_load,
#endif
    .counters = counters,
    .counter_count = CONFIG_THIMBLE_NORDIC_AXON_COUNTERS,
};

const thimble_axon_silicon thimble_axon_chip = {
    THIMBLE_AXON_SUBGRAPHS,
#ifdef CONFIG_THIMBLE_NORDIC_AXON_WAIT_FOR_EVENT
    .wait_for_event = 1,
#endif
    .npu = &thimble_axon_npu,
    .ticks = NPU_TICKS,
};
