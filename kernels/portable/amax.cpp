// thimble::amax and thimble::amin over any set of dimensions, in any dim_order; docs/numerics.md,
// "Pools and reductions". int8 or int16.
//
// Operands: x, attributes (dims, keepdim), y. y has the reduced dimensions as 1, or without them.

#include "kernels/args/attributes.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, x.dtype));
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  AttributeReader attributes(tensor(call, 1));
  const uint32_t mask = attributes.dims(x.rank);
  const int32_t keepdim = attributes.word();
  if (!attributes.complete() || (keepdim & ~1) != 0) return Status::kBadParameter;
  return check_reduced_sizes(x, y, mask);
}

/// `flip` is -1 for amin, else 0. Elements are compared after XOR with `flip`; XOR with -1 reverses
/// their order.
template <class T>
void run_type(const Call& call, int32_t flip) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  Reduction reduction(x, y, AttributeReader(tensor(call, 1)).dims(x.rank));
  for_each_result(reduction, static_cast<const T*>(x.data), [&](int32_t to, const T* from) {
    int32_t best = from[0] ^ flip;
    for_each_run(reduction.reduced, from, [&](const T* at, int32_t count, int32_t step) {
      for (int32_t i = 0; i < count; ++i) {
        const int32_t code = at[i * step] ^ flip;
        best = code > best ? code : best;
      }
    });
    static_cast<T*>(y.data)[to] = static_cast<T>(best ^ flip);
  });
}

void run(const Call& call, int32_t flip) {
  if (tensor(call, 0).dtype == DType::kI8) return run_type<int8_t>(call, flip);
  run_type<int16_t>(call, flip);
}

void run_amax(const Call& call) {
  run(call, 0);
}
void run_amin(const Call& call) {
  run(call, -1);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_amax, check, run_amax);
THIMBLE_DEFINE_KERNEL(portable, thimble_amin, check, run_amin);

}  // namespace thimble::kernels
