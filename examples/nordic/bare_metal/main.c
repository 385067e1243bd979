/* SPDX-License-Identifier: Apache-2.0 */
/* sin(x) on the NPU, without an operating system. */

#include "hello_axon.h"
#include "platform.h"
#include "thimble_axon_vendor.h"

#include <string.h>

static thimble_axon_counter counters[1];
const thimble_axon thimble_axon_npu = {.counters = counters, .counter_count = 1};
const thimble_axon_silicon thimble_axon_chip = {.driver_version = THIMBLE_AXON_DRIVER_VERSION,
                                                .npu = &thimble_axon_npu};

static uint8_t memory[hello_axon_MEMORY_BYTES] __attribute__((aligned(16)));

/* The result, for a debugger. */
volatile float sine;
volatile int32_t status;

int main(void) {
  thimble_model model;
  thimble_view view;
  const float x = 1.5707963f;
  status = nrf_axon_driver_init((void*)THIMBLE_AXON_BASE);
  if (status == 0) status = nrf_axon_driver_power_on();
  if (status != 0) return 1;
  status = thimble_init(&model, hello_axon_pte, hello_axon_pte_bytes, hello_axon_kernels(), memory,
                        sizeof memory);
  if (status == 0) status = thimble_set_input(&model, 0, &x, sizeof x);
  if (status == 0) status = thimble_run(&model);
  if (status == 0) status = thimble_output(&model, 0, &view);
  if (status == 0) memcpy((void*)&sine, view.data, sizeof sine);
  return status != 0;
}
