// SPDX-License-Identifier: Apache-2.0
// linear_mve_int4, as linear_mve (kernels/mve/linear.cpp).

#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/int4.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/int4_layer.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const auto* const x = static_cast<const int8_t*>(operands[0]);
  auto* const y = static_cast<int8_t*>(operands[3]);
  const mve::Int4Layer layer(operands[2], g.out_features, g.in_features,
                             {g.y_zero_point, g.min, g.max});
  uint32_t row = g.rows < mve::kBlockPixels ? 0 : layer.multiply_many(x, y, g.rows);
  for (; row < g.rows; ++row) {
    layer.multiply_one(x + row * g.in_features, y + row * g.out_features);
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_linear_mve_int4, check_linear_mve_int4, run);

}  // namespace thimble::kernels
#endif
