// SPDX-License-Identifier: Apache-2.0
#pragma once
// The version of the packed constants of native operators (abi/params/, abi/packed_ops.h and the
// headers of single cores).
//
// The parameters of a call are in a constant, read in place from flash. Numbers are little-endian.
// The constant is 16-byte aligned. It contains one of the structs, then the arrays that the struct
// names, in order, each 4-byte aligned. Other constants are in logical order. Any change of a
// struct or an array raises kKernelLayoutVersion; a runtime rejects a file of another version.
//
// The parameters of direct operators (rows of src/engine/direct.def) are the attributes of the IR
// operator: each member has the id of its attribute in src/ir/attributes.def. A direct operator
// without attributes has no such operand.

#include <cstdint>

namespace thimble::abi {

inline constexpr uint32_t kKernelLayoutVersion = 4;

/// Returns true for the kernel layout version of this release, and for 0: no packed constants.
constexpr bool is_known_kernel_layout(uint32_t version) {
  return version == kKernelLayoutVersion || version == 0;
}

}  // namespace thimble::abi
