// thimble::qmasked_softmax over the innermost dimension; formula: docs/numerics.md, "Masked
// softmax".
//
// Operands: x, attributes (dim, mult, shift, diff_min), y. In place: y may be x.

#include "kernels/args/attributes.h"
#include "kernels/args/rows.h"
#include "kernels/define_kernel.h"
#include "numerics/softmax.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_attributes(tensor(call, 1), 4));
  const int32_t* const a = attributes(tensor(call, 1));
  THIMBLE_RETURN_IF_ERROR(
      check_rows(tensor(call, 0), tensor(call, 2), static_cast<uint32_t>(a[0])));
  const bool fine = a[1] >= 0 && a[2] >= 0 && a[2] <= 31 && a[3] <= 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const int32_t* const a = attributes(tensor(call, 1));
  const numerics::Softmax softmax = {a[1], a[2], a[3], -127};
  const int32_t length = x.sizes[a[0]];
  const int32_t count = elements(x);
  for (int32_t i = 0; i < count; i += length) {
    softmax.row(codes(x) + i, length, mutable_codes(tensor(call, 2)) + i);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_qmasked_softmax, check, run);

}  // namespace thimble::kernels
