// SPDX-License-Identifier: Apache-2.0
#pragma once
// The NPU that runs a delegate's streams. Two files implement these functions: npu_product.cpp for
// hardware, npu_simulator.cpp for hosts.

#include "engines/ethos_u/delegate/driver.h"
#include "executorch/delegate/backend.h"

namespace thimble::executorch {

/// Sets `npu` to the NPU for a payload. The simulator is of the payload's configuration, and
/// delegate.device points to it.
[[nodiscard]] abi::Status open_npu(LoadedDelegate& delegate, const runtime::DelegateSource& source,
                                   const thimble_ethos_u*& npu);
/// Returns the fast scratch of the NPU; null if there is none.
[[nodiscard]] runtime::ethos_u::Bytes fast_memory(LoadedDelegate& delegate);
/// Gives the NPU access to the memories of a job.
void connect(LoadedDelegate& delegate, const runtime::ethos_u::Job& job);

}  // namespace thimble::executorch
