// SPDX-License-Identifier: Apache-2.0
// conv2d_mve (kernels/mve/convolution.h).

#include "abi/ops/conv.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/define_kernel.h"
#include "kernels/mve/convolution.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  Convolution<mve::MatmulLayer>(operands).run();
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_conv2d_mve, check_conv2d_mve, run);

}  // namespace thimble::kernels
#endif
