#pragma once
// The C++ file that a product links instead of all kernels: those that its `.pte` calls, in the
// fastest variant that its instruction set has.

#include <string>
#include <string_view>

#include "abi/native_params.h"
#include "base/result.h"
#include "hostrun/interface.h"

namespace thimble::hostrun {

/// Whether a kernel of ours has the operator's name, "cortex_m::quantized_add.out".
[[nodiscard]] bool has_kernel(std::string_view op);

/// Defines `const thimble_kernels* thimble_model_kernels(void)`. An operator without a kernel is
/// an `unsupported` error. `label` names the model in the file's comment and in messages.
[[nodiscard]] Result<std::string> kernel_source(const Interface& interface, abi::Isa isa,
                                                std::string_view label);

}  // namespace thimble::hostrun
