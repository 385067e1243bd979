// SPDX-License-Identifier: Apache-2.0
#include "abi/ops/conv.h"
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// conv2d_scalar: windows are gathered (kernels/args/conv_scalar.h); scalar_dot.cpp computes the
// products.

#include "kernels/define_kernel.h"
#include "kernels/v6m/scalar_dot.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  run_conv2d_scalar(kV6mScalar, operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_conv2d_scalar, check_conv2d_scalar_pairs, run);

}  // namespace thimble::kernels
#endif
