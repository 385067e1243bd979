// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shapes of products of two activations, int8 or int16. Leading dimensions are batches and
// broadcast. Memory is contiguous in logical order.

#include <cstdint>

#include "abi/ops/linear.h"
#include "abi/params/matmul.h"
#include "kernels/args/params.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

/// Returns the size of dimension `from_end` (1 = last), or 1 if the tensor has no such dimension.
inline int32_t size_at(const Tensor& t, uint32_t from_end) {
  return from_end > t.rank ? 1 : t.sizes[t.rank - from_end];
}

inline const abi::MatmulParams& matmul_params(const Call& call) {
  return params<abi::op_info::thimble_matmul>(tensor(call, 2));
}
/// Checks int8 operands a, b, MatmulParams, y.
Status check_matmul8(const Call& call);

/// Checks that all operands have type `dtype`, that their shapes match, and that sums have at most
/// `depth_max` products.
Status check_matmul(const Tensor& a, const Tensor& b, const Tensor& y, DType dtype, bool transposed,
                    int32_t depth_max);
/// Returns a traversal of the batches, in elements; operands: y, a, b.
StrideIterator matmul_batches(const Tensor& a, const Tensor& b, const Tensor& y);

}  // namespace thimble::kernels
