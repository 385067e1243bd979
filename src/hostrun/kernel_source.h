// SPDX-License-Identifier: Apache-2.0
#pragma once
// Generates the kernel table that a product links instead of all kernels: the kernels that its
// `.pte` calls, in the fastest variant for its instruction set, and the delegates.

#include <string>
#include <string_view>
#include <vector>

#include "abi/named_data.h"
#include "base/result.h"
#include "formats/pte/chosen_kernel.h"
#include "hostrun/device.h"
#include "hostrun/interface.h"

namespace thimble::hostrun {

/// Returns true if Thimble has a kernel for the operator "cortex_m::quantized_add.out".
[[nodiscard]] bool has_kernel(std::string_view op);

/// Kernels and delegates that a product links for a file.
struct UsedKernels {
  struct Kernel {
    std::string op;      // "thimble::conv2d.out"
    std::string symbol;  // "portable_thimble_conv2d", in thimble::kernels
  };
  std::vector<Kernel> kernels;
  std::vector<DeviceKind> devices;   // for the file's delegate calls
  bool overlaps = false;             // a delegate works while the core executes other calls
  bool flatbuffer_executor = false;  // the runtime executes the flatbuffer tables, not records
};

/// Returns the kernels of all instructions, in order. An instruction that calls no kernel, or an
/// operator without a kernel, is an `unsupported` error.
[[nodiscard]] Result<std::vector<formats::pte::ChosenKernel>> chosen_kernels(
    const Interface& interface, abi::Isa isa, std::string_view label);

/// An operator without a kernel is an `unsupported` error. `label` names the model in messages and
/// in comments of the files.
[[nodiscard]] Result<UsedKernels> used_kernels(const Interface& interface, abi::Isa isa,
                                               std::string_view label);

/// Returns C++ code that defines `const thimble_kernels* thimble_model_kernels(void)`.
[[nodiscard]] std::string kernel_source(const UsedKernels& used, std::string_view label);

/// Calls used_kernels() and kernel_source().
[[nodiscard]] Result<std::string> kernel_source(const Interface& interface, abi::Isa isa,
                                                std::string_view label);

/// Returns CMake code that links a target with the sources, in the file's own folder, and with the
/// libraries that they call.
[[nodiscard]] std::string kernel_cmake(const UsedKernels& used, std::string_view label,
                                       const std::vector<std::string>& sources);

}  // namespace thimble::hostrun
