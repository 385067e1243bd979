// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel that an instruction calls on a core.

#include <string>

namespace thimble::formats::pte {

struct ChosenKernel {
  std::string variant;          // "mve"
  std::string op;               // id of abi/pte_ops.def: "thimble_conv2d_mve"
  std::string arguments;        // letters of abi/pte_ops.def
  bool addresses_only = false;  // the kernel needs only the addresses of its operands
};

}  // namespace thimble::formats::pte
