// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/norm_impl.h"

namespace thimble::kernels {

THIMBLE_NORM_ROWS(int16_t);

}  // namespace thimble::kernels
