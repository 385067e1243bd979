// thimble::softmax16 over the dimension that is innermost in memory, from int8 or int16 to int16
// with scale 1/32768; formula: docs/numerics.md, "16-bit activations", and numerics/softmax.h.
//
// Operands: x, attributes (dim mult shift diff_min), y.

#include "numerics/softmax16.h"
#include "kernels/args/attributes.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct Params {
  int32_t dim, mult, shift, diff_min;
};

const Params& params_of(const Call& call) {
  return *reinterpret_cast<const Params*>(attributes(tensor(call, 1)));
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  if (const Status s = check_tensor(x); s != Status::kOk) return s;
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  if (const Status s = check_tensor(y, DType::kI16); s != Status::kOk) return s;
  const Status s = check_attributes(tensor(call, 1), sizeof(Params) / sizeof(int32_t));
  if (s != Status::kOk) return s;
  const Params& p = params_of(call);
  if (!same_sizes(x, y) || p.dim < 0 || p.dim >= x.rank) return Status::kBadShape;
  if (p.mult < 0 || p.shift < 0 || p.shift > 31 || p.diff_min > 0) return Status::kBadParameter;
  Tensor like_x = y;
  like_x.dtype = x.dtype;
  like_x.bytes = x.bytes;
  int32_t steps[abi::kMaxRank];
  strides(x, steps);
  const bool innermost = steps[p.dim] == 1 || x.sizes[p.dim] == 1;
  return innermost && same_layout(x, like_x) ? Status::kOk : Status::kBadDimOrder;
}

template <class T>
void rows(const numerics::Softmax& softmax, const T* x, int32_t length, int32_t count, int16_t* y) {
  for (int32_t i = 0; i < count; i += length)
    numerics::softmax16_row(softmax, x + i, length, y + i);
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Params& p = params_of(call);
  numerics::Softmax softmax = {};
  softmax.mult = p.mult;
  softmax.shift = p.shift;
  softmax.diff_min = p.diff_min;
  const int32_t length = x.sizes[p.dim];
  int16_t* y = mutable_codes16(tensor(call, 2));
  if (x.dtype == DType::kI8) {
    rows(softmax, codes(x), length, elements(x), y);
  } else {
    rows(softmax, codes16(x), length, elements(x), y);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_softmax16, check, run);

}  // namespace thimble::kernels
