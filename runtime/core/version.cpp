// SPDX-License-Identifier: Apache-2.0
#include "abi/kernel_layout.h"
#include "runtime/include/thimble.h"

extern "C" uint32_t thimble_version() {
  return THIMBLE_VERSION;
}

extern "C" uint32_t thimble_layout_version() {
  return thimble::abi::kKernelLayoutVersion;
}
