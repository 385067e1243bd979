// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes of the C of a program after compilation with GCC -Os for a Cortex-M: upper bounds, from the
// instructions that GCC generates for each construct of the C. benchmarks/sizes compares them with
// linked images.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "emit/c/model.h"
#include "formats/pte/program.h"

namespace thimble::emit::c {

struct Size {
  int64_t constant_bytes = 0;  // arrays with weights, parameters and initial states, with padding
  int64_t table_bytes = 0;     // arguments of the calls
  int64_t code_bytes = 0;      // functions of the model
  int64_t ram_bytes = 0;       // variables in addition to the arena
  int64_t stack_bytes = 0;     // frame of the model's function run()
  bool copies = false;         // the code calls memcpy
  bool fills = false;          // the code calls memset
};

/// `addresses_only`: per instruction, true if the kernel receives only addresses. A program that
/// cannot be written as C is an `unsupported` error.
[[nodiscard]] Result<Size> size_of(const formats::pte::Program& program,
                                   const std::vector<bool>& addresses_only, const Options& options);

}  // namespace thimble::emit::c
