// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of convolutions and linear layers with weights of 4 bits (abi/int4.h). Operands are those
// of the same packing with 8 bits.

#include "kernels/args/packed.h"

namespace thimble::kernels {

// Weights in groups (abi/int4_group.h): one form for all cores.
Status check_conv2d_int4_group(const Call& call);
Status check_linear_int4_group(const Call& call);
Status check_conv2d_dsp_int4(const Call& call);
Status check_linear_dsp_int4(const Call& call);
Status check_conv2d_mve_int4(const Call& call);
Status check_linear_mve_int4(const Call& call);
Status check_conv2d_scalar_int4(const Call& call);
/// As check_conv2d_scalar_int4(), with scratch for the unpacked weights if the geometry says so; on
/// Armv6-M also for the interleaved words of pixels.
Status check_conv2d_scalar_int4_rows(const Call& call);
Status check_conv2d_scalar_int4_pairs(const Call& call);
Status check_linear_scalar_int4(const Call& call);

}  // namespace thimble::kernels
