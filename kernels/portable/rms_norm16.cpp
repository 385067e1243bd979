// thimble::rms_norm16; operands: kernels/args/norm_kernels.h; formula: docs/numerics.md, "Norms".

#include "kernels/args/norm_kernels.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_rms_norm16, RmsNorm<int16_t>::check, RmsNorm<int16_t>::run);

}  // namespace thimble::kernels
