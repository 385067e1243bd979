#pragma once
// ExecuTorch's delegate EthosUBackend. Payload, command stream and tensors are checked when the
// model is loaded. A call copies the inputs to their addresses in scratch, runs the stream and
// copies the outputs back. A tensor that the memory plan already placed at its address in scratch
// is not copied.

#include "runtime/exec/delegates.h"
#include "thimble_ethos_u.h"

namespace thimble::runtime::ethos_u {

/// Returns the entry of delegates_of() for the NPU.
DelegateBackend backend(const thimble_ethos_u* npu);

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);

}  // namespace thimble::runtime::ethos_u
