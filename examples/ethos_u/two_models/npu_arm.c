/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of Arm's ethos-u-core-driver: the driver itself, or the simulator with the same
 * functions, which are called with the memory of each run. */
#include "npu.h"

#include <ethosu_driver.h>

static struct ethosu_driver driver;

#ifdef SIMULATED_NPU
static _Alignas(16) unsigned char workspace[48 * 1024];
static struct thimble_simulated_npu npu = {"ethos-u55-128", workspace, sizeof workspace};
static void* const registers = &npu;
#else
static void* const registers = (void*)0x48102000;

/* Entry 16 + 56 of the board's vector table is the NPU's interrupt. */
void ethos_u_interrupt(void);
void ethos_u_interrupt(void) {
  ethosu_irq_handler(&driver);
}
#endif

int npu_start(const npu_memory* memories, int count) {
  (void)memories, (void)count;
  return ethosu_init(&driver, registers, NULL, 0, 1, 1);
}
