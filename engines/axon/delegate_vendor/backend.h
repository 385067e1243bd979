#pragma once
// The delegates of silicon: programs of the vendor's compiler, from the file (ThimbleAxonProgram)
// or linked into the firmware (AxonBackend), run by the vendor's driver. Everything is checked when
// the model is loaded; a program from the file is bound to its addresses then, once. The device of
// both is a thimble_axon_silicon.

#include "runtime/exec/delegates.h"
#include "thimble_axon_vendor.h"

namespace thimble::runtime::axon_vendor::program {
Status open(const Delegate& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
}  // namespace thimble::runtime::axon_vendor::program

namespace thimble::runtime::axon_vendor::marker {
Status open(const Delegate& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);
}  // namespace thimble::runtime::axon_vendor::marker
