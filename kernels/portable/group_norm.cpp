// thimble::group_norm; operands: kernels/args/norm_kernels.h; formula: docs/numerics.md, "Norms".

#include "kernels/args/norm_kernels.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_group_norm, GroupNorm<int8_t>::check,
                      GroupNorm<int8_t>::run);

}  // namespace thimble::kernels
