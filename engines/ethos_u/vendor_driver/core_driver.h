// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of Arm's ethos-u-core-driver that a run calls, by name and signature; the product links
// the driver. Source: its public headers ethosu_driver.h and ethosu_types.h, version 1.0.0
// (docs/ethos-u.md).

#include <stddef.h>
#include <stdint.h>

extern "C" {

struct ethosu_driver;

struct ethosu_id {
  uint32_t version_status, version_minor, version_major, product_major;
  uint32_t arch_patch_rev, arch_minor_rev, arch_major_rev;
};

struct ethosu_config {
  uint32_t macs_per_cc;  // the field of the register CONFIG: the logarithm to base 2
  uint32_t cmd_stream_version, custom_dma;
};

struct ethosu_hw_info {
  ethosu_id version;
  ethosu_config cfg;
};

/// Waits for a driver that ethosu_init() has registered and that is not reserved.
ethosu_driver* ethosu_reserve_driver(void);
void ethosu_release_driver(ethosu_driver* driver);
void ethosu_get_hw_info(ethosu_driver* driver, ethosu_hw_info* info);
/// Runs the payload's command stream. Returns 0 or a negative number.
int ethosu_invoke_v3(ethosu_driver* driver, const void* payload, int payload_bytes,
                     uint64_t* base_addresses, const size_t* base_bytes, int base_count,
                     void* user_arg);
/// Starts the stream and returns. The driver keeps the two arrays until ethosu_wait().
int ethosu_invoke_async(ethosu_driver* driver, const void* payload, int payload_bytes,
                        uint64_t* base_addresses, const size_t* base_bytes, int base_count,
                        void* user_arg);
/// Returns 0 when the stream has ended, 1 if it has not (only with block = false), or a negative
/// number.
int ethosu_wait(ethosu_driver* driver, bool block);
}
