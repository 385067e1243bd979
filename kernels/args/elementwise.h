// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of add and mul, stock and native. Each operand may broadcast by logical shape as in
// numpy, and may have its own dim_order.

#include <cstdint>

#include "abi/params/arithmetic.h"
#include "kernels/args/operands.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

struct Binary {
  const int8_t* a = nullptr;
  const int8_t* b = nullptr;
  int8_t* y = nullptr;
  StrideIterator iterator;  // operands: y, a, b; y is traversed in memory order
};

Status check_binary(const Tensor& a, const Tensor& b, const Tensor& y);
Binary bind_binary(const Tensor& a, const Tensor& b, const Tensor& y);

Status check_add(const abi::AddParams& params);
Status check_mul(const abi::MulParams& params);
/// The signature of earlier releases has no limits.
template <bool kLimits>
Status check_stock_add(const Call& call);
Status check_stock_mul(const Call& call);
abi::AddParams stock_add_params(const Call& call, bool has_limits);
abi::MulParams stock_mul_params(const Call& call);

}  // namespace thimble::kernels
