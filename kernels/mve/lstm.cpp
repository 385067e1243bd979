// SPDX-License-Identifier: Apache-2.0
// thimble::lstm; operands and formulas: kernels/args/lstm.h.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/lstm.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/recurrent_steps.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(mve, thimble_lstm, check_lstm, run_lstm<mve::Steps>);

}  // namespace thimble::kernels

#endif
