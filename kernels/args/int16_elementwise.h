// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operands of elementwise kernels with 16-bit activations.

#include "kernels/kernels.h"

namespace thimble::kernels {

/// Checks the call of add.i16 or sub.i16: a, b, parameters, y; a and b broadcast.
Status check_add16(const Call& call);
/// Checks the call of lut.i16: x, table int16[513], y.
Status check_lut16(const Call& call);

}  // namespace thimble::kernels
