// SPDX-License-Identifier: Apache-2.0
// thimble::lut.i16: a function interpolated between 513 points; formula: docs/numerics.md,
// "16-bit activations".
//
// Operands: x, table int16[513], y. In place: y may be x.

#include "abi/ops/arithmetic.h"
#include "kernels/args/int16_elementwise.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run(const Call& call) {
  const int16_t* x = codes16(tensor(call, 0));
  const int16_t* table = codes16(tensor(call, 1));
  int16_t* y = mutable_codes16(tensor(call, 2));
  const int32_t count = elements(tensor(call, 2));
  for (int32_t i = 0; i < count; ++i) y[i] = numerics::interpolate(table, x[i]);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_lut16, check_lut16, run);

}  // namespace thimble::kernels
