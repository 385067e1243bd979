// SPDX-License-Identifier: Apache-2.0
#ifndef ETHOSU_TYPES_H
#define ETHOSU_TYPES_H
/* Types of Arm's driver interface, by name and field (ethosu_driver.h). */

#include <stdint.h>

struct ethosu_id {
  uint32_t version_status, version_minor, version_major, product_major;
  uint32_t arch_patch_rev, arch_minor_rev, arch_major_rev;
};

struct ethosu_config {
  uint32_t macs_per_cc, cmd_stream_version, custom_dma;
};

struct ethosu_hw_info {
  struct ethosu_id version;
  struct ethosu_config cfg;
};

#endif
