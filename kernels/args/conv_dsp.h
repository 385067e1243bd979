// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of convolutions packed for the DSP extension (abi/matmul_dsp.h, conv2d_dsp and
// depthwise_dsp): x, geometry, weights, scratch, y.

#include "abi/matmul_dsp.h"
#include "kernels/args/packed.h"

namespace thimble::kernels {

Status check_conv2d_dsp(const Call& call);
Status check_depthwise_dsp(const Call& call);

}  // namespace thimble::kernels
