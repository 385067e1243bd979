#pragma once
// Shapes of products of two activations, int8 or int16. Leading dimensions are batches and
// broadcast. Memory is contiguous in logical order.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

/// Returns the size of dimension `from_end` (1 = last), or 1 if the tensor has no such dimension.
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
/// Checks int8 operands a, b, attributes, y.
Status check_matmul8(const Call& call);

/// Checks that all operands have type `dtype`, that their shapes match, and that sums have at most
/// `depth_max` products.
Status check_matmul(const Tensor& a, const Tensor& b, const Tensor& y, DType dtype, bool transposed,
                    int32_t depth_max);
/// Returns a traversal of the batches, in elements; operands: y, a, b.
StrideIterator matmul_batches(const Tensor& a, const Tensor& b, const Tensor& y);

}  // namespace thimble::kernels
