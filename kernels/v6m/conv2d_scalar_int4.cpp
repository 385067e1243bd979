// SPDX-License-Identifier: Apache-2.0
#include "abi/ops/conv.h"
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// conv2d_scalar_int4: four channels of weights are unpacked for each block of pixels; then the
// loops of conv2d_scalar run.

#include "kernels/args/int4.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/int4_scalar.h"
#include "kernels/v6m/scalar_dot.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  if (window_geometry(operands[1]).block_pixels == 0) {
    run_conv2d_int4<ScalarWeights>(operands);
  } else {
    run_conv2d_scalar_int4(kV6mScalar, operands);
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_conv2d_scalar_int4, check_conv2d_scalar_int4_pairs, run);

}  // namespace thimble::kernels
#endif
