// SPDX-License-Identifier: Apache-2.0
// thimble::layer_norm; operands: kernels/args/norm_kernels.h; formula: docs/numerics.md, "Norms".

#include "abi/ops/normalization.h"
#include "kernels/args/norm_kernels.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {
using Form = LayerNorm<int8_t, abi::op_info::thimble_layer_norm>;
}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_layer_norm, Form::check, Form::run);

}  // namespace thimble::kernels
