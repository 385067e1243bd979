// thimble::group_norm; operands: kernels/args/norm_calls.h; formula: docs/numerics.md, "Norms".

#include "kernels/args/norm_calls.h"
#include "kernels/define.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_group_norm, GroupNorm<int8_t>::check,
                      GroupNorm<int8_t>::run);

}  // namespace thimble::kernels
