// SPDX-License-Identifier: Apache-2.0
// Default implementations of the platform hooks of thimble_ethos_u.h. They are in their own file,
// so that a compiler cannot inline these bodies into their callers.

#include "thimble_ethos_u.h"

#define THIMBLE_WEAK __attribute__((weak))

extern "C" {

THIMBLE_WEAK void thimble_ethos_u_lock(const thimble_ethos_u*) {}
THIMBLE_WEAK void thimble_ethos_u_unlock(const thimble_ethos_u*) {}
THIMBLE_WEAK void thimble_ethos_u_clean(const thimble_ethos_u*, const void*, size_t) {}
THIMBLE_WEAK void thimble_ethos_u_invalidate(const thimble_ethos_u*, void*, size_t) {}
THIMBLE_WEAK void thimble_ethos_u_wait(const thimble_ethos_u*) {}
THIMBLE_WEAK uint64_t thimble_ethos_u_address(const thimble_ethos_u*, const void* data) {
  return reinterpret_cast<uintptr_t>(data);
}
THIMBLE_WEAK void thimble_ethos_u_fault(const thimble_ethos_u*, uint32_t, uint32_t) {}

}  // extern "C"
