// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameters of a direct operator: one constant with a struct of abi/params.

#include <cstdint>

#include "abi/params/list.h"
#include "abi/pte_op.h"
#include "kernels/args/operands.h"

namespace thimble::kernels {

/// Returns the parameters of an operator, or of operators with the same struct: a reference into
/// the constant, which check_params() found to be aligned to 4 bytes.
template <const abi::PteOpInfo&... kOps>
const abi::ParamsOf<kOps...>& params(const void* constant) {
  return *static_cast<const abi::ParamsOf<kOps...>*>(constant);
}
template <const abi::PteOpInfo&... kOps>
const abi::ParamsOf<kOps...>& params(const Tensor& constant) {
  return params<kOps...>(constant.data);
}

/// Checks that the constant has exactly `bytes` bytes.
Status check_params(const Tensor& t, uint32_t bytes);
/// Checks that the constant has exactly the bytes of the operator's parameters.
template <const abi::PteOpInfo&... kOps>
Status check_params(const Tensor& t) {
  return check_params(t, sizeof(abi::ParamsOf<kOps...>));
}

/// Checks that the constant has `bytes` bytes, of which the last four are the count of a list of
/// distinct dimensions below `rank`, and then the list, which is not empty.
Status check_params_and_dims(const Tensor& t, uint32_t bytes, uint32_t rank);
/// Checks the constant of a struct whose last member is IntTail `dims`.
template <const abi::PteOpInfo&... kOps>
Status check_params_and_dims(const Tensor& t, uint32_t rank) {
  return check_params_and_dims(t, sizeof(abi::ParamsOf<kOps...>), rank);
}
/// Returns one bit for each dimension of the list.
uint32_t dims_mask(const abi::IntTail& dims);

}  // namespace thimble::kernels
