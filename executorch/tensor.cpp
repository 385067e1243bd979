// SPDX-License-Identifier: Apache-2.0
#include "executorch/tensor.h"

namespace thimble::executorch {

using abi::Status;
using kernels::DType;

namespace {

bool has_type(DType dtype) {
  switch (dtype) {
    case DType::kU8:
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kF32:
    case DType::kBool:
      return true;
  }
  return false;
}

}  // namespace

Status view_tensor(const ::executorch::aten::Tensor& from, kernels::Tensor& view) {
  // Both enumerations have the numbers of ExecuTorch's files.
  const auto dtype = static_cast<DType>(from.scalar_type());
  const auto rank = static_cast<size_t>(from.dim());
  const size_t bytes = from.nbytes();
  if (!has_type(dtype) || rank > abi::kMaxRank || bytes > kernels::kMaxTensorBytes) {
    return Status::kUnsupported;
  }
  view = {};
  view.data = const_cast<void*>(from.const_data_ptr());
  view.sizes = from.sizes().data();
  view.dim_order = from.dim_order().data();
  view.bytes = static_cast<uint32_t>(bytes);
  view.rank = static_cast<uint8_t>(rank);
  view.dtype = dtype;
  return view.data != nullptr || bytes == 0 ? Status::kOk : Status::kBadArgument;
}

}  // namespace thimble::executorch
