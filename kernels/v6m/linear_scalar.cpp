#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// linear_scalar: rows as they lie, products made by scalar_dot.cpp.

#include "kernels/define.h"
#include "kernels/v6m/scalar_dot.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  run_linear_scalar(kV6mScalar, operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_linear_scalar, check_linear_scalar, run);

}  // namespace thimble::kernels
#endif
