#pragma once
// The delegates of silicon: programs of the vendor's compiler, from the file (ThimbleAxonProgram) or
// linked into the firmware (AxonBackend), run by the vendor's driver. Everything is checked when the
// model is loaded; a program from the file is bound to its addresses then, once.

#include "runtime/exec/delegates.h"
#include "thimble_axon_vendor.h"

namespace thimble::runtime::axon_vendor {

/// Rows for delegates_of().
Delegate program_backend(const thimble_axon_silicon* chip);
Delegate marker_backend(const thimble_axon_silicon* chip);

}  // namespace thimble::runtime::axon_vendor
