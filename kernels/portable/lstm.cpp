// SPDX-License-Identifier: Apache-2.0
// thimble::lstm; operands and formulas: kernels/args/lstm.h.

#include "kernels/args/lstm.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/recurrent_steps.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_lstm, check_lstm, run_lstm<PortableSteps>);

}  // namespace thimble::kernels
