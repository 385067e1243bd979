// SPDX-License-Identifier: Apache-2.0
#pragma once
// The delegates for hardware: programs of the vendor's compiler that are stored in the file
// (ThimbleAxonProgram) or linked into the firmware (AxonBackend). The vendor's driver runs them.
// All checks are done when the model is loaded. A program in the file is bound to its addresses
// once, at that time. The device of both delegates is a thimble_axon_silicon.

#include "runtime/exec/delegates.h"
#include "thimble_axon_vendor.h"

namespace thimble::runtime::axon_vendor::program {
Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
}  // namespace thimble::runtime::axon_vendor::program

namespace thimble::runtime::axon_vendor::marker {
Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
}  // namespace thimble::runtime::axon_vendor::marker
