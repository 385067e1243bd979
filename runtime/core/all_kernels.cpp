// Every kernel of the build, for hosts, tests and the generic runner. A file of its own: whoever
// links it links all kernels, and a product passes its generated table instead.

#include "kernels/kernels.h"
#include "runtime/include/thimble.h"

extern "C" const thimble_kernels* thimble_all_kernels(void) {
  static const thimble::kernels::KernelTable table = thimble::kernels::all_kernels();
  return reinterpret_cast<const thimble_kernels*>(&table);
}
