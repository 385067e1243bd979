// thimble::mean16 over any set of dimensions, in any dim_order; formula: docs/numerics.md, "16-bit
// activations".
//
// Operands: x, attributes (dims keepdim mult shift min max), y. y has the reduced dimensions as 1,
// or without them.

#include "kernels/args/attributes.h"
#include "kernels/args/reduction.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct Params {
  uint32_t mask;
  int32_t keepdim, mult, shift, min, max;
  bool complete;
};

Params params_of(const Call& call) {
  AttributeReader reader(tensor(call, 1));
  Params params = {};
  params.mask = reader.dims(tensor(call, 0).rank);
  params.keepdim = reader.word();
  params.mult = reader.word();
  params.shift = reader.word();
  params.min = reader.word();
  params.max = reader.word();
  params.complete = reader.complete();
  return params;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI16));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI16));
  const Params p = params_of(call);
  if (!p.complete || !is_scale16(p.mult, p.shift) || !are_bounds16(p.min, p.max)) {
    return Status::kBadParameter;
  }
  return check_reduced_sizes(x, y, p.mask);
}

int64_t sum(const int16_t* x, StrideIterator& reduced) {
  int64_t total = 0;
  do {
    const StrideIterator::Axis& row = reduced.row();
    const int16_t* at = x + reduced.offset[1];
    for (int32_t i = 0; i < row.extent; ++i) total += at[i * row.step[1]];
  } while (reduced.next());
  return total;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Params p = params_of(call);
  Reduction reduction(x, y, p.mask);
  StrideIterator& kept = reduction.kept;
  do {
    const StrideIterator::Axis& row = kept.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      const int16_t* from = codes16(x) + kept.offset[1] + i * row.step[1];
      const int32_t mean = numerics::requantize64(sum(from, reduction.reduced), p.mult, p.shift);
      mutable_codes16(y)[kept.offset[0] + i * row.step[0]] =
          static_cast<int16_t>(numerics::clamp(mean, p.min, p.max));
    }
  } while (kept.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_mean16, check, run);

}  // namespace thimble::kernels
