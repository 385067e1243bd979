// thimble::layer_norm16; operands: kernels/args/norm_kernels.h; formula: docs/numerics.md, "Norms".

#include "kernels/args/norm_kernels.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {

THIMBLE_DEFINE_KERNEL(portable, thimble_layer_norm16, LayerNorm<int16_t>::check,
                      LayerNorm<int16_t>::run);

}  // namespace thimble::kernels
