// SPDX-License-Identifier: Apache-2.0
#include "abi/ops/conv.h"
#include "kernels/isa.h"
#if THIMBLE_HAS_V7M
// depthwise_scalar: windows (kernels/args/conv_scalar.h); scalar_taps.cpp computes the products.

#include "kernels/define_kernel.h"
#include "kernels/v7m/scalar_taps.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  run_depthwise_scalar(kV7mTaps, operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v7m, thimble_depthwise_scalar, check_depthwise_scalar, run);

}  // namespace thimble::kernels
#endif
