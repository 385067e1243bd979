// SPDX-License-Identifier: Apache-2.0
// thimble::gru; operands and formulas: kernels/args/gru.h.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/gru.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/recurrent_steps.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(mve, thimble_gru, check_gru, run_gru<mve::Steps>);

}  // namespace thimble::kernels

#endif
