#pragma once
// What a product links instead of all kernels: those that its `.pte` calls, in the fastest variant
// that its instruction set has, and the delegates.

#include <string>
#include <string_view>
#include <vector>

#include "abi/native_params.h"
#include "base/result.h"
#include "hostrun/device.h"
#include "hostrun/interface.h"

namespace thimble::hostrun {

/// Whether a kernel of ours has the operator's name, "cortex_m::quantized_add.out".
[[nodiscard]] bool has_kernel(std::string_view op);

/// What a product links for a file.
struct UsedKernels {
  struct Kernel {
    std::string op;      // "thimble::conv2d.out"
    std::string symbol;  // "portable_thimble_conv2d", in thimble::kernels
  };
  std::vector<Kernel> kernels;
  std::vector<DeviceKind> devices;  // of its delegate calls
  bool stock_reader = false;        // the file is run from its tables
};

/// The kernel that an instruction calls on a core.
struct ChosenKernel {
  std::string variant;    // "mve"
  std::string op;         // id of abi/pte_ops.def
  std::string arguments;  // letters
  bool bare = false;      // it needs no more than the places of its operands
};

/// Of every instruction, in order. One that calls no kernel, or an operator without one, is an
/// `unsupported` error.
[[nodiscard]] Result<std::vector<ChosenKernel>> chosen_kernels(const Interface& interface,
                                                               abi::Isa isa,
                                                               std::string_view label);

/// An operator without a kernel is an `unsupported` error. `label` names the model in messages and
/// in comments of the files.
[[nodiscard]] Result<UsedKernels> used_kernels(const Interface& interface, abi::Isa isa,
                                               std::string_view label);

/// C++ that defines `const thimble_kernels* thimble_model_kernels(void)`.
[[nodiscard]] std::string kernel_source(const UsedKernels& used, std::string_view label);

/// Both.
[[nodiscard]] Result<std::string> kernel_source(const Interface& interface, abi::Isa isa,
                                                std::string_view label);

/// CMake that links a target with the sources, in the file's own folder, and what they call.
[[nodiscard]] std::string kernel_cmake(const UsedKernels& used, std::string_view label,
                                       const std::vector<std::string>& sources);

}  // namespace thimble::hostrun
