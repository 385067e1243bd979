// SPDX-License-Identifier: Apache-2.0
#pragma once
// A trace of one call of a program on this machine: the time of each instruction and, on request,
// the tensors of each instruction after it ran.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"
#include "hostrun/interface.h"
#include "ir/tensor.h"

namespace thimble::hostrun {

/// A planned tensor of the program, and its offset in the arena.
struct ArenaTensor {
  Port port;
  size_t offset = 0;
};

/// Returns the traced tensors of each instruction: the results of a kernel call, and all planned
/// operands of a delegate call, whose results are the last ones. Tensors in constants or in memory
/// of the application are not in the lists.
[[nodiscard]] Result<std::vector<std::vector<ArenaTensor>>> traced_tensors(
    const formats::pte::Program& program, std::string_view label);

struct TracedInstruction {
  size_t index = 0;
  uint64_t start_ns = 0, end_ns = 0;
  std::vector<ir::Tensor> tensors;  // as traced_tensors(); empty if not requested
};

/// Times in nanoseconds from the start of the call, without the time for copies of tensors.
struct CallTrace {
  uint64_t end_ns = 0;
  std::vector<TracedInstruction> instructions;
};

}  // namespace thimble::hostrun
