// SPDX-License-Identifier: Apache-2.0
// thimble::gru.int4; operands: abi/int4.h, formulas: kernels/args/gru.h.

#include "kernels/args/gru.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/gates_int4.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_gru_int4, check_gru_int4, run_gru_int4<PortableInt4Steps>);

}  // namespace thimble::kernels
