// SPDX-License-Identifier: Apache-2.0
#pragma once
// The delegate ThimbleAxonModel: layer lists for the AXON NPU (engines/axon/container/layers.h),
// executed by a driver that the product provides. The layer list and the tensors are checked when
// the model is loaded. A call passes pointers to the driver and counts cycles.

#include "runtime/exec/delegates.h"
#include "thimble_axon.h"

namespace thimble::runtime::axon {

/// Returns a row for delegates_of().
DelegateBackend backend(const thimble_axon* npu);

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);

/// Sets the scratch memory of the next run, for runtimes that allocate it for each call.
void set_scratch(DelegateSlot& slot, uint8_t* scratch);

}  // namespace thimble::runtime::axon
