// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stock linear layer: rows times weights in the order of the file.

#include "kernels/args/linear.h"

namespace thimble::kernels::dsp {

void multiply_unpacked_rows(const Linear& linear);

}  // namespace thimble::kernels::dsp
