// SPDX-License-Identifier: Apache-2.0
#pragma once
// Check of thimble::lut.packed; operands: x, LutTable constant, y.

#include "kernels/args/loop_nest.h"

namespace thimble::kernels {

Status check_lut_packed(const Call& call);

}  // namespace thimble::kernels
