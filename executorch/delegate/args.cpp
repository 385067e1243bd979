// SPDX-License-Identifier: Apache-2.0
// The members of DelegateArgs and DelegateSource for calls and files of ExecuTorch's runtime.
// runtime/exec/delegates.cpp defines them for Thimble's runtime: an image links one of the two
// files.
//
// Tensors are not in Thimble's arena. The engines' delegates compare the offsets of tensors with
// those of their scratch memory, which is at offset 0 here. All tensors have an offset above it:
// ExecuTorch's runtime has allocated the scratch memory apart from all tensors.

#include "executorch/delegate/backend.h"
#include "executorch/tensor.h"

namespace thimble::runtime {

static_assert(executorch::kTensorOffset + kernels::kMaxTensorBytes > executorch::kTensorOffset,
              "the end of a tensor fits 32 bits");

kernels::Tensor DelegateArgs::tensor(uint32_t i) const {
  const auto& values = *static_cast<const executorch::Values*>(call);
  kernels::Tensor tensor;
  (void)executorch::view_tensor(values[i]->toTensor(), tensor);  // verified before the call
  return tensor;
}

void* DelegateArgs::data(uint32_t i) const {
  const auto& values = *static_cast<const executorch::Values*>(call);
  return const_cast<void*>(values[i]->toTensor().const_data_ptr());
}

uint32_t DelegateArgs::offset(uint32_t) const {
  return executorch::kTensorOffset;
}

Status DelegateSource::find_data(const uint8_t* key, uint32_t key_bytes, ByteRegion& found) const {
  return static_cast<executorch::DelegateFile*>(file)->find_data(key, key_bytes, found);
}

}  // namespace thimble::runtime
