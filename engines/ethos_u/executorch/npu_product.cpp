// SPDX-License-Identifier: Apache-2.0
// The NPU of a product, which defines thimble_npu.

#include "engines/ethos_u/executorch/npu.h"

namespace thimble::executorch {

abi::Status open_npu(LoadedDelegate&, const runtime::DelegateSource&, const thimble_ethos_u*& npu) {
  npu = &thimble_npu;
  return abi::Status::kOk;
}

runtime::ethos_u::Bytes fast_memory(LoadedDelegate&) {
  return {static_cast<const uint8_t*>(thimble_npu.fast_memory), thimble_npu.fast_bytes};
}

void connect(LoadedDelegate&, const runtime::ethos_u::Job&) {}

}  // namespace thimble::executorch
