// SPDX-License-Identifier: Apache-2.0
#include "abi/ops/linear.h"
#include "kernels/isa.h"
#if THIMBLE_HAS_V7M
// linear_scalar: rows are read in place; scalar_dot.cpp computes the products.

#include "kernels/define_kernel.h"
#include "kernels/v7m/scalar_dot.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  run_linear_scalar(kV7mScalar, operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v7m, thimble_linear_scalar, check_linear_scalar_rows, run);

}  // namespace thimble::kernels
#endif
