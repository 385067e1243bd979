/* SPDX-License-Identifier: Apache-2.0 */
#include "thimble_zephyr.h"

#include <zephyr/logging/log.h>

LOG_MODULE_REGISTER(thimble, CONFIG_THIMBLE_LOG_LEVEL);

thimble_status thimble_zephyr_init(thimble_model* model, const void* pte, size_t pte_bytes,
                                   const thimble_kernels* kernels, void* memory,
                                   size_t memory_bytes) {
  thimble_needs needs;
  thimble_status status = thimble_size(pte, pte_bytes, kernels, &needs);
  if (status == 0) {
    LOG_DBG("file %u B, arena %u B, state %u B, memory %u B", (unsigned)pte_bytes,
            (unsigned)needs.arena_bytes, (unsigned)needs.state_bytes, (unsigned)memory_bytes);
    status = thimble_init(model, pte, pte_bytes, kernels, memory, memory_bytes);
  }
  if (status != 0) LOG_ERR("load: %s", thimble_status_text(status));
  return status;
}
