// SPDX-License-Identifier: Apache-2.0
// thimble::gru; operands and formulas: kernels/args/gru.h.

#include "kernels/args/gru.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/recurrent_steps.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_gru, check_gru, run_gru<PortableSteps>);

}  // namespace thimble::kernels
