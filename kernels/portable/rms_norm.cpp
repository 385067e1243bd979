// thimble::rms_norm; operands: kernels/args/norm_kernels.h; formula: docs/numerics.md, "Norms".

#include "kernels/args/norm_kernels.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_rms_norm, RmsNorm<int8_t>::check, RmsNorm<int8_t>::run);

}  // namespace thimble::kernels
