#pragma once
// Dedicated_Sram: inputs of the network lie in the external memory.

#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

/// The program with a copy (NpuOp::stages_input) in front of what reads an input window by window:
/// blocks overlap and rows are narrow, so that the external memory is read far more than once. The
/// schedule decides whether the copy is made.
[[nodiscard]] NpuProgram stage_inputs(NpuProgram program);

}  // namespace thimble::engine::ethos_u
