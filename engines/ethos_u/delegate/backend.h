// SPDX-License-Identifier: Apache-2.0
#pragma once
// ExecuTorch's delegate EthosUBackend. Payload, command stream and tensors are checked when the
// model is loaded. A call copies the inputs to their addresses in scratch, runs the stream and
// copies the outputs back. A tensor that the memory plan already placed at its address in scratch
// is not copied.

#include "engines/ethos_u/delegate/driver.h"
#include "runtime/exec/delegates.h"
#include "thimble_ethos_u.h"

namespace thimble::runtime::ethos_u {

/// Returns the entry of delegates_of() for the NPU.
DelegateBackend backend(const thimble_ethos_u* npu);

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
/// For files with calls that run while the NPU works.
extern const BackgroundCalls background;
uint32_t persistent_bytes(const DelegateBackend& self);

// The parts of check(), for runtimes that open a delegate before they know its tensors, and
// allocate scratch for each call.

/// Checks everything that does not depend on tensors: the tables of inputs and outputs and the
/// stream. `uses_fast`: whether the stream uses fast scratch.
Status check_payload(const DelegateSlot& slot, bool& uses_fast);
/// Checks the tensors of a call.
Status check_tensors(const DelegateSlot& slot, const DelegateMemory& memory,
                     const DelegateArgs& args);
/// The stream with its memories. The caller of check_payload() and check_tensors() sets scratch and
/// fast scratch.
Job& job_of(DelegateSlot& slot);

}  // namespace thimble::runtime::ethos_u
