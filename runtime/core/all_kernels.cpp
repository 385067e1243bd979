// Table of every kernel of the build with both readers, for hosts, tests and the generic runner. It
// is in a file of its own because a reference to it links all kernels. A product passes its
// generated table instead.

#include "kernels/kernels.h"
#include "runtime/exec/reader.h"
#include "runtime/include/thimble.h"

extern "C" const thimble_kernels* thimble_all_kernels(void) {
  static const thimble::kernels::KernelTable table = [] {
    thimble::kernels::KernelTable all = thimble::kernels::all_kernels();
    all.stock = &thimble::runtime::stock_reader;
    return all;
  }();
  return reinterpret_cast<const thimble_kernels*>(&table);
}
