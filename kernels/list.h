#pragma once
// Every kernel of this build by its name, one object for each row of kernels.def. Apart from
// kernels.h, so that a new row compiles no other kernel anew.

#include "kernels/isa.h"
#include "kernels/kernels.h"

namespace thimble::kernels {

#define THIMBLE_KERNEL(variant, op) THIMBLE_IF_##variant(extern const Kernel variant##_##op;)
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL

}  // namespace thimble::kernels
