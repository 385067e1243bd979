#pragma once
// Shapes of products of two activations, of either code. Leading dimensions are batches and
// broadcast. Memory contiguous in logical order.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/walk.h"

namespace thimble::kernels {

/// Size of dimension `from_end` (1 = last); 1 where the tensor has none.
inline int32_t size_at(const Tensor& t, uint32_t from_end) {
  return from_end > t.rank ? 1 : t.sizes[t.rank - from_end];
}

/// Attributes of thimble::matmul.
struct MatmulAttributes {
  int32_t transpose_b, a_zp, b_zp, y_zp, mult, shift, min, max, rounding;
};
inline const MatmulAttributes& matmul_attributes(const Call& call) {
  return *static_cast<const MatmulAttributes*>(tensor(call, 2).data);
}
/// a, b, attributes, y of int8.
Status check_matmul8(const Call& call);

/// All of `dtype` and of shapes that multiply, with sums of at most `depth_max` products.
Status check_matmul(const Tensor& a, const Tensor& b, const Tensor& y, DType dtype, bool transposed,
                    int32_t depth_max);
/// Over the batches, in elements: y, a, b.
Walk matmul_batches(const Tensor& a, const Tensor& b, const Tensor& y);

}  // namespace thimble::kernels
