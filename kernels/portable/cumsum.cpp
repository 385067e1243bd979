// thimble::cumsum along one dimension, in any dim_order; formula: docs/numerics.md, "Pools and
// reductions".
//
// Operands: x, attributes, y.

#include "kernels/args/attributes.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct Params {
  uint32_t dim;
  int32_t x_zp, y_zp, mult, shift, min, max, rounding;
};

Params params_of(AttributeReader& attributes) {
  Params p;
  p.dim = static_cast<uint32_t>(attributes.word());
  p.x_zp = attributes.word();
  p.y_zp = attributes.word();
  p.mult = attributes.word();
  p.shift = attributes.word();
  p.min = attributes.word();
  p.max = attributes.word();
  p.rounding = attributes.word();
  return p;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  AttributeReader attributes(tensor(call, 1));
  const Params p = params_of(attributes);
  const bool fine = attributes.complete() && p.dim < x.rank && is_code(p.x_zp) && is_code(p.y_zp) &&
                    is_scale(p.mult, p.shift) && are_bounds(p.min, p.max) && p.rounding == 0;
  if (!fine) return Status::kBadParameter;
  return same_sizes(x, y) && x.sizes[p.dim] <= kMaxReduced ? Status::kOk : Status::kBadShape;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  AttributeReader attributes(tensor(call, 1));
  const Params p = params_of(attributes);
  int32_t steps_x[abi::kMaxRank];
  int32_t steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  StrideIterator rows;
  for (uint32_t i = 0; i < y.rank; ++i) {
    const uint32_t d = y.dim_order[i];
    if (d != p.dim) rows.push(y.sizes[d], steps_y[d], steps_x[d]);
  }
  const int32_t count = x.sizes[p.dim];
  do {
    const StrideIterator::Axis& across = rows.row();
    for (int32_t k = 0; k < across.extent; ++k) {
      const int8_t* from = codes(x) + rows.offset[1] + k * across.step[1];
      int8_t* to = mutable_codes(y) + rows.offset[0] + k * across.step[0];
      int32_t sum = 0;
      for (int32_t i = 0; i < count; ++i) {
        sum += from[i * steps_x[p.dim]] - p.x_zp;
        const int32_t scaled = numerics::requantize(sum, p.mult, p.shift);
        const int32_t code = numerics::wrap_add(scaled, p.y_zp);
        to[i * steps_y[p.dim]] = static_cast<int8_t>(numerics::clamp(code, p.min, p.max));
      }
    }
  } while (rows.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_cumsum, check, run);

}  // namespace thimble::kernels
