// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compiles a delegate with the vendor's compiler: converts the layer list to the vendor's IR,
// compiles it, and replaces the layer list in the delegate by the resulting program.

#include "base/result.h"
#include "engine/engine.h"

namespace thimble::engine::axon {

/// Values of VendorTools::form.
inline constexpr char kFormProgram[] = "program";  // the .pte contains the program
inline constexpr char kFormHeader[] = "header";    // the firmware contains it: Delegate::files

/// Implements Npu::compile_with_vendor_tools. A failure of the tools is a bad_input error; a
/// network that they cannot compile is an unsupported error.
[[nodiscard]] Status compile_with_vendor_tools(const VendorTools& tools, Delegate& delegate);

}  // namespace thimble::engine::axon
