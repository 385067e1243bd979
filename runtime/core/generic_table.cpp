// SPDX-License-Identifier: Apache-2.0
// thimble_all_kernels(): all kernels of this build and the flatbuffer executor, for hosts, tests
// and the generic runner. A separate file, because a reference to the table links all kernels. A
// product passes its generated table instead.

#include "kernels/kernels.h"
#include "runtime/exec/executor.h"
#include "runtime/include/thimble.h"

extern "C" const thimble_kernels* thimble_all_kernels(void) {
  static const thimble::kernels::KernelTable table = [] {
    thimble::kernels::KernelTable all = thimble::kernels::all_kernels();
    all.flatbuffer_executor = &thimble::runtime::flatbuffer_executor;
    return all;
  }();
  return reinterpret_cast<const thimble_kernels*>(&table);
}
