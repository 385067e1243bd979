// SPDX-License-Identifier: Apache-2.0
// thimble::lstm.int4; operands: abi/int4.h, formulas: kernels/args/lstm.h.

#include "kernels/args/lstm.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/gates_int4.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_lstm_int4, check_lstm_int4,
                      run_lstm_int4<PortableInt4Steps>);

}  // namespace thimble::kernels
