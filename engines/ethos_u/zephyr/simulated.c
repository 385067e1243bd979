/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the simulated NPU, as Zephyr's driver of the Ethos-U starts a real one. */
#include <ethosu_driver.h>
#include <zephyr/init.h>
#include <zephyr/toolchain.h>

static unsigned char workspace[CONFIG_THIMBLE_ETHOS_U_SIMULATED_WORKSPACE] __aligned(16);
static struct thimble_simulated_npu npu = {CONFIG_THIMBLE_ETHOS_U_SIMULATED_CONFIGURATION,
                                           workspace, sizeof workspace};
static struct ethosu_driver driver;

static int start_npu(void) {
  return ethosu_init(&driver, &npu, NULL, 0, 1, 1);
}

SYS_INIT(start_npu, POST_KERNEL, CONFIG_KERNEL_INIT_PRIORITY_DEFAULT);
