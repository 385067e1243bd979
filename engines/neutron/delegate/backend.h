// SPDX-License-Identifier: Apache-2.0
#pragma once
// The delegates NeutronBackend (microcode) and ThimbleNeutronModel (kernel list). Both pass the
// payload (engines/neutron/container/payload.h) to the linked driver
// (engines/neutron/container/driver.h): NXP's library or the integer model. Loading checks payload
// and tensors and prepares the network. A call passes addresses, and transposes a tensor if its
// memory order differs from the network's.

#include "runtime/exec/delegates.h"
#include "thimble_neutron.h"

namespace thimble::runtime::neutron {

/// Return rows for delegates_of(): for kernel lists, and for the vendor's microcode.
DelegateBackend backend(const thimble_neutron* npu);
DelegateBackend vendor_backend(const thimble_neutron* npu);

// Functions of both rows. Public because the table that `thimble compile --kernels` writes names
// them; runtime/exec/delegates.h describes each.
Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
uint32_t call_scratch(const DelegateSlot& slot, const DelegateArgs& args);
uint32_t persistent_bytes(const DelegateBackend& self);

// For runtimes that open a delegate before they know its tensors, and allocate scratch for each
// call. check() without scratch memory does not prepare the network.

/// Prepares the network of an open slot with the driver. `persistent` has persistent_bytes() bytes.
Status prepare(DelegateSlot& slot, uint8_t* persistent);
/// Returns the network to the driver.
void unprepare(DelegateSlot& slot);
/// Sets the scratch memory of the next run.
void set_scratch(DelegateSlot& slot, uint8_t* scratch);

}  // namespace thimble::runtime::neutron
