// SPDX-License-Identifier: Apache-2.0
// conv2d_mve_int4 (kernels/mve/convolution.h).

#include "abi/ops/conv.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/int4.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/convolution.h"
#include "kernels/mve/int4_layer.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  Convolution<mve::Int4Layer>(operands).run();
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_conv2d_mve_int4, check_conv2d_mve_int4, run);

}  // namespace thimble::kernels
#endif
