// thimble::rms_norm over the last dimensions, which are contiguous; formula: docs/numerics.md,
// "Norms".
//
// Operands: x, w int16 or None, attributes, y. In place: y may be x.

#include "kernels/args/norm.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

Tensor absent() {
  Tensor none;
  none.is_null = true;
  return none;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  AttributeReader attributes(tensor(call, 2));
  const auto dims = static_cast<uint32_t>(attributes.word());
  Norm norm;
  norm.read(attributes, /*has_zero=*/true);
  if (const Status s = check_norm(x, tensor(call, 3), attributes, norm); s != Status::kOk) return s;
  if (const Status s = check_trailing(x, dims); s != Status::kOk) return s;
  int32_t entries = 1;
  for (uint32_t d = x.rank - dims; d < x.rank; ++d) entries *= x.sizes[d];
  return check_norm_entries(tensor(call, 1), absent(), entries);
}

void run(const Call& call) {
  AttributeReader attributes(tensor(call, 2));
  const auto dims = static_cast<uint32_t>(attributes.word());
  Norm norm;
  norm.read(attributes, /*has_zero=*/true);
  norm.w = half_words(tensor(call, 1));
  run_trailing(norm, tensor(call, 0), tensor(call, 3), dims);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_rms_norm, check, run);

}  // namespace thimble::kernels
