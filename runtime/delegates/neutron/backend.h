#pragma once
// The delegates NeutronBackend and ThimbleNeutronModel. The payload has the format of ExecuTorch's
// NXP backend (abi/neutron_payload.h) and contains the vendor's microcode or Thimble's kernel list.
// An implementation of the vendor's driver interface (npu/neutron/driver.h) runs it. Payload and
// tensors are checked, and the network is prepared, when the model is loaded. A call passes
// addresses to the driver. It transposes a tensor only if its memory order in the file differs from
// the network's.

#include "runtime/exec/delegates.h"
#include "thimble_neutron.h"

namespace thimble::runtime::neutron {

/// Return rows for delegates_of(): for kernel lists, and for the vendor's microcode.
Delegate backend(const thimble_neutron* npu);
Delegate vendor_backend(const thimble_neutron* npu);

Status open(const Delegate& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
uint32_t call_scratch(const DelegateSlot& slot, const DelegateArgs& args);
uint32_t kept_bytes(const Delegate& self);

}  // namespace thimble::runtime::neutron
