// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of the vendor's driver that a run calls, by name and signature; the product links the
// driver. Source: the published interface of sdk-edge-ai 2.2.0 (docs/nordic-axon.md).

#include <stdint.h>

namespace thimble::runtime::axon_vendor {

/// A command word; it has the width of an address.
using Word = uintptr_t;

/// The driver's state of a program while it runs.
struct CommandBuffer {
  uint32_t length;
  const Word* words;
  uint32_t segment;
};

enum WaitMode : int { kPolling = 1, kEvent = 2 };

}  // namespace thimble::runtime::axon_vendor

extern "C" {
int nrf_axon_init_command_buffer_info(thimble::runtime::axon_vendor::CommandBuffer* buffer,
                                      const thimble::runtime::axon_vendor::Word* words,
                                      uint32_t length);
int nrf_axon_run_cmd_buf_sync(thimble::runtime::axon_vendor::CommandBuffer* buffer, int wait_mode,
                              bool keep_reservation);
bool nrf_axon_platform_reserve_for_user();
void nrf_axon_platform_free_reservation_from_user();
}
