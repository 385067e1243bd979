#pragma once
// ExecuTorch's delegate EthosUBackend: payload, command stream and tensors are checked when the
// model is loaded; a call copies inputs to their places in scratch, runs the stream and copies
// outputs back. A tensor that the file has planned at its very place is not copied.

#include "runtime/exec/delegates.h"
#include "thimble_ethos_u.h"

namespace thimble::runtime::ethos_u {

/// A row for delegates_of().
Delegate backend(const thimble_ethos_u* npu);

Status open(const Delegate& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);

}  // namespace thimble::runtime::ethos_u
