// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of linear packed for the DSP extension (abi/matmul_dsp.h, linear_dsp): x, geometry,
// weights, y.

#include "abi/matmul_dsp.h"
#include "kernels/args/packed.h"

namespace thimble::kernels {

Status check_linear_dsp(const Call& call);

}  // namespace thimble::kernels
