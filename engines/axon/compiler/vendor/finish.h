#pragma once
// A partition as the vendor's compiler makes it: the layer list goes out as IR, a program comes
// back, and takes the list's place in the delegate.

#include "base/result.h"
#include "engine/engine.h"

namespace thimble::engine::axon {

/// What VendorTools::form may say.
inline constexpr char kFormProgram[] = "program";  // the file holds the program
inline constexpr char kFormHeader[] = "header";    // the firmware does: Delegate::files

/// For Engine::finish. Errors of the tools are bad input; what they cannot do is unsupported.
[[nodiscard]] Status finish(const VendorTools& tools, Delegate& delegate);

}  // namespace thimble::engine::axon
