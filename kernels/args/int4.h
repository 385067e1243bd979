#pragma once
// Checks of convolutions and linear layers with weights of 4 bits (abi/int4.h). Operands are those
// of the same packing with 8 bits.

#include "kernels/args/packed.h"

namespace thimble::kernels {

Status check_conv2d_dsp_int4(const Call& call);
Status check_linear_dsp_int4(const Call& call);
Status check_conv2d_mve_int4(const Call& call);
Status check_linear_mve_int4(const Call& call);
Status check_conv2d_scalar_int4(const Call& call);
Status check_linear_scalar_int4(const Call& call);

}  // namespace thimble::kernels
