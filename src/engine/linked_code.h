// SPDX-License-Identifier: Apache-2.0
#pragma once
// Code that a firmware links for a program: the question of the driver to a core, and the answer
// from the core's measured tables.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "abi/pte_op.h"

namespace thimble::engine {

struct LinkRequest {
  std::vector<abi::PteOp> kernels;          // of the calls; may repeat
  std::vector<std::string_view> delegates;  // ids in the file; may repeat
  bool records = true;                      // false: the runtime executes the flatbuffer
  bool states = false;                      // the application saves and restores states
  bool c_output = false;                    // the program is C code that calls kernels directly
  bool copies = false;                      // the C code calls memcpy
  bool fills = false;                       // the C code calls memset
};

struct LinkedCode {
  std::string_view compiler;  // "gcc 12.2.1"
  std::string_view core;      // the core for which the code was compiled
  int64_t flash_bytes = 0;    // instructions and read-only data, with padding
  int64_t ram_bytes = 0;      // variables of the code
  int64_t stack_bytes = 0;    // upper bound for any call of the runtime, or of a kernel from C
  bool needs_driver = false;  // a delegate calls the driver of its vendor, which is not counted
  /// For C output, per entry of LinkRequest::kernels: true if the kernel receives only addresses.
  std::vector<bool> addresses_only;
};

}  // namespace thimble::engine
