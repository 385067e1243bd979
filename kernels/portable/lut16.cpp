// thimble::lut.i16: a function interpolated between 513 points; formula: docs/numerics.md,
// "16-bit activations".
//
// Operands: x, table int16[513], y. In place: y may be x.

#include "abi/ops/arithmetic.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  for (uint32_t i = 0; i < 3; ++i)
    THIMBLE_RETURN_IF_ERROR(check_tensor(tensor(call, i), DType::kI16));
  if (elements(tensor(call, 1)) != numerics::kLut16Size) return Status::kBadShape;
  if (!same_sizes(tensor(call, 0), tensor(call, 2))) return Status::kBadShape;
  return same_layout(tensor(call, 0), tensor(call, 2)) ? Status::kOk : Status::kBadDimOrder;
}

void run(const Call& call) {
  const int16_t* x = codes16(tensor(call, 0));
  const int16_t* table = codes16(tensor(call, 1));
  int16_t* y = mutable_codes16(tensor(call, 2));
  const int32_t count = elements(tensor(call, 2));
  for (int32_t i = 0; i < count; ++i) y[i] = numerics::interpolate(table, x[i]);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_lut16, check, run);

}  // namespace thimble::kernels
