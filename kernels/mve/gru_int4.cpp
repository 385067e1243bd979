// SPDX-License-Identifier: Apache-2.0
// thimble::gru.int4; operands: abi/int4.h, formulas: kernels/args/gru.h.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/gru.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/recurrent_steps.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(mve, thimble_gru_int4, check_gru_int4, run_gru_int4<mve::Int4Steps>);

}  // namespace thimble::kernels

#endif
