// Every kernel of the build and both readers, for hosts, tests and the generic runner. A file of
// its own: whoever links it links all kernels, and a product passes its generated table instead.

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
