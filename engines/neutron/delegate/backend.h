#pragma once
// The delegates NeutronBackend and ThimbleNeutronModel: a payload as ExecuTorch's NXP backend packs
// it (engines/neutron/container/payload.h), with the vendor's microcode or a list of kernels of
// ours, run by whoever stands behind the vendor's driver interface
// (engines/neutron/container/driver.h). Payload and tensors are checked and the network is prepared
// when the model is loaded; a call hands the driver addresses, and changes the memory order of a
// tensor only if the file has it in another one than the network.

#include "runtime/exec/delegates.h"
#include "thimble_neutron.h"

namespace thimble::runtime::neutron {

/// Return rows for delegates_of(): for kernel lists, and for the vendor's microcode.
DelegateBackend backend(const thimble_neutron* npu);
DelegateBackend vendor_backend(const thimble_neutron* npu);

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
uint32_t call_scratch(const DelegateSlot& slot, const DelegateArgs& args);
uint32_t persistent_bytes(const DelegateBackend& self);

}  // namespace thimble::runtime::neutron
