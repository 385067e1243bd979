// thimble::variance over any set of dimensions, in any dim_order; formula: docs/numerics.md, "Pools
// and reductions".
//
// Operands: x, attributes, y. y has the reduced dimensions as 1, or without them.

#include "kernels/args/attributes.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct Params {
  uint32_t mask;
  int32_t keepdim, y_zp, mult, shift, min, max;
};

Params params_of(AttributeReader& attributes, uint32_t rank) {
  Params p;
  p.mask = attributes.dims(rank);
  p.keepdim = attributes.word();
  p.y_zp = attributes.word();
  p.mult = attributes.word();
  p.shift = attributes.word();
  p.min = attributes.word();
  p.max = attributes.word();
  return p;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  AttributeReader attributes(tensor(call, 1));
  const Params p = params_of(attributes, x.rank);
  const bool fine = attributes.complete() && (p.keepdim & ~1) == 0 && is_code(p.y_zp) &&
                    is_scale(p.mult, p.shift) && are_bounds(p.min, p.max);
  if (!fine) return Status::kBadParameter;
  if (reduced_count(x, p.mask) > kMaxReduced) return Status::kBadShape;
  return check_reduced_sizes(x, y, p.mask);
}

/// Returns n^2 times the variance of one group of values.
int64_t scaled_variance(StrideIterator& reduced, const int8_t* from, int64_t n) {
  int32_t sum = 0;
  uint64_t squares = 0;
  for_each_run(reduced, from, [&](const int8_t* at, int32_t count, int32_t step) {
    for (int32_t i = 0; i < count; ++i) {
      const int32_t code = at[i * step];
      sum += code;
      squares += static_cast<uint32_t>(code * code);
    }
  });
  return n * static_cast<int64_t>(squares) - static_cast<int64_t>(sum) * sum;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  AttributeReader attributes(tensor(call, 1));
  const Params p = params_of(attributes, x.rank);
  const int64_t n = reduced_count(x, p.mask);
  // 2^bits >= n
  const int32_t bits = 32 - numerics::count_leading_zeros(static_cast<uint32_t>(n - 1));
  const int32_t right = bits > 8 ? 2 * bits - 16 : 0;
  const int64_t half = int64_t{1} << (30 - p.shift);
  Reduction reduction(x, y, p.mask);
  for_each_result(reduction, codes(x), [&](int32_t to, const int8_t* from) {
    const int64_t v = scaled_variance(reduction.reduced, from, n) >> right;
    const int64_t code = ((v * p.mult + half) >> (31 - p.shift)) + p.y_zp;
    const int64_t limited = code < p.min ? p.min : code > p.max ? p.max : code;
    mutable_codes(y)[to] = static_cast<int8_t>(limited);
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_variance, check, run);

}  // namespace thimble::kernels
